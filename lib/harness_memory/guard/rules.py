"""The rules: how firm each is, why it stops a call, and what to do instead.

    id   tier   reason | remedy         a remedy may be the name of one in _REMEDIES

Tiers are deny, ask, log, off. After a tier, `-` makes a rule milder in the profile `relaxed` (ask becomes log), `+` firmer
in `strict` (ask becomes deny, log becomes ask). Only what is certain and cannot be undone is denied.
"""

from __future__ import annotations

DENY, ASK, LOG, OFF = "deny", "ask", "log", "off"
TIERS = (OFF, LOG, ASK, DENY)  # from the mildest to the firmest
PROFILES = ("relaxed", "normal", "strict")

_REMEDIES = {
    "clean": "Delete named files or folders inside the project instead.",
    "commit": "Commit or stash first (git stash push -u), then it can be undone.",
    "person": "Say what should be done and why, and let the user run it.",
    "dry": "Show what would be affected first, then let the user decide.",
    "show": "Show the change and let the user confirm it.",
}
_TABLE = """
delete.system deny deletes a part of the operating system | clean
delete.home deny deletes the home directory or a main folder of it | clean
delete.project deny deletes the whole project | Name the files or folders to delete; build output alone is free to go.
delete.git deny deletes a repository's history | To undo commits or changes use git itself; to start again ask the user.
delete.git-part ask deletes git's own files, or those of another repository | Use git itself (git gc, git remote prune, git worktree remove).
delete.unknown ask deletes what cannot be known in advance | Write the path out, or print it first and then delete that path.
delete.outside ask+ deletes outside the project | Work inside the project, or let the user confirm the exact path.
delete.inside log+ deletes a folder of the project |
disk.overwrite deny overwrites or formats a disk | person
disk.manage ask+ changes disks, volumes or file systems | person
system.fork-bomb deny is a fork bomb | Bound the number of processes.
system.permissions deny changes permissions or owners of the system or the home directory | Change single files of the project.
system.world-writable ask- opens files to everyone, recursively | Give the one file the mode it needs, e.g. chmod u+x FILE.
system.power ask+ stops the machine | person
system.kill-all ask+ kills every process | Kill one process by its id.
system.users ask+ changes accounts, groups or passwords | person
system.services ask- changes a system service, the network or the kernel | person
system.schedule ask- removes or replaces scheduled jobs | Show them first: crontab -l.
system.packages ask- removes system packages | person
path.secret deny reaches for private keys or credentials | Ask the user for what is needed; *.pub and known_hosts are free to read.
path.env ask+ shows a file of secrets | Read .env.example or the code that uses the variables; ask the user for values.
path.env-write ask- writes a file of secrets | Write .env.example, and let the user fill in the real file.
path.sensitive ask+ opens a file that may hold keys or secrets | Ask the user for the part that is needed.
path.startup ask changes a file that runs by itself when a shell or session starts | Show the line and let the user add it.
path.system ask+ changes a file of the operating system | person
path.system-core deny overwrites accounts, boot files or devices of the system | person
path.git-hooks ask- changes what git runs by itself | Use the project's own hook tooling, or let the user confirm.
path.ci ask- changes what the build server runs | show
path.confirm-write ask changes a file that is to be confirmed | show
path.no-delete ask- deletes a file that projects keep | Edit it instead, or let the user confirm.
secret.show ask prints secrets or tokens | Use the tool that needs the value directly, without printing it.
exfil.secret deny sends keys or secrets elsewhere | Nothing that holds keys leaves this machine; ask the user.
exfil.environment ask+ sends the environment, with all its secrets, elsewhere | Send the one value that is needed, with consent.
exfil.tree ask+ sends a whole folder elsewhere | Send the one file that is needed, with the user's consent.
exfil.metadata ask+ asks the cloud's metadata service for credentials | person
self.audit deny touches the audit trail, which only grows by itself | Read it with: harness memory audit show.
self.memory deny changes the memory behind its back | Use the command line: harness memory --help.
self.other-memory ask reaches beyond the memory of this project | Ask the user first; harness memory shows this project's own.
self.guard deny takes the guard out or changes its code | Rules are the user's to change: harness guard rules.
self.settings ask+ changes the client's settings, hooks included | show
self.project-settings ask changes settings of the client for this project | show
self.touch ask may change the memory, the guard or the client's settings | Use the command line: harness memory --help.
self.allow deny lets the guard be overruled, which is for people alone | Ask the user to run it in a terminal of their own.
self.uninstall ask+ switches the memory or its guard off | person
self.decide ask does with the memory what the user decides: share, send, bind, loosen or replace | person
self.forget ask removes what is remembered | Show the preview first (without --yes, or with --dry-run).
git.reset-hard ask throws away uncommitted work | commit
git.clean ask deletes untracked or ignored files for good | Look first with git clean -n, then delete what is named.
git.discard ask throws away all uncommitted changes of a folder or more | commit
git.discard-file ask- throws away the uncommitted changes of a file | Look first with git diff FILE; git stash push FILE keeps them.
git.stash-drop ask deletes stashed work | Look first with git stash show -p; git stash pop brings it back.
git.branch-delete ask- deletes a branch that may hold unmerged work | git branch -d deletes only what is merged.
git.force-push ask+ rewrites a shared branch on the remote | Push to a branch of your own, or use --force-with-lease there.
git.force-push-own log+ rewrites a branch of your own on the remote |
git.push-delete ask deletes a branch or tag on the remote | person
git.rewrite ask+ rewrites history or removes its safety net | Make a backup branch first and let the user confirm.
git.worktree ask- removes a work tree with its uncommitted work | Without --force git refuses where something would be lost.
remote.pipe-to-shell ask runs code straight from the network | Download it, read it, then run the file.
remote.shell ask+ opens a shell to the network | person
docker.mount ask- hands the whole disk or the home directory to a container | Mount the one folder that is needed.
code.hidden ask runs code that was encoded or cannot be read | Write the commands in the open.
kube.delete ask deletes, drains or rolls back resources of a cluster | dry
infra.destroy ask+ destroys or rewrites infrastructure | Show the plan first (terraform plan) and let the user apply it.
docker.prune ask- deletes containers, images or volumes with their data | Remove single items by name.
cloud.delete ask deletes or disables resources of a service | dry
service.delete ask- makes a program delete something for good | dry
tool.effect ask- deletes, merges, publishes or forces something through a tool | dry
db.destroy ask deletes data or tables | Select first what would be lost, make a backup, let the user confirm.
publish ask publishes to the outside | Use a dry run (--dry-run) and let the user publish.
repo.delete ask deletes or changes a repository, release, secret or setting on the host | person
backup.delete ask+ deletes backups or snapshots | dry
mail.send log+ sends mail | person
guard.unreadable ask cannot be read as shell text, and begins something destructive | Write it as plain commands.
guard.failed ask could not be judged | Try a simpler form, or let the user decide.
"""


_ROWS = [line.split(None, 2) for line in _TABLE.strip().split("\n")]
_TIERS = {name: tier for name, tier, _ in _ROWS}
_TEXTS = [(name, *[part.strip() for part in text.split("|")]) for name, _, text in _ROWS]
RULES = {name: (_TIERS[name].rstrip("+-"), reason, _REMEDIES.get(how, how)) for name, reason, how in _TEXTS}


def tier_in(profile: str, rule: str) -> str:
    tier = _TIERS[rule]
    base = tier.rstrip("+-")
    if profile == "relaxed" and tier == "ask-":
        return LOG
    if profile == "strict" and tier[-1] == "+":
        return DENY if base == ASK else ASK
    return base
