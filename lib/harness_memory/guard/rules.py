"""The rules: what each forbids, how firmly, why, and what to do instead.

    RULES      id → (tier, reason, remedy)
    COMMANDS   (id, programs, words that must follow in this order, flags of which one must be there, flags that excuse it)

A word of COMMANDS may hold alternatives (`rm|remove`) and end in `*`. The rules that need more than words are judged in
`deletes`, `gitrules`, `programs`, `bodies` and `paths`, under ids of this same table.
"""

from __future__ import annotations

DENY = "deny"
ASK = "ask"
LOG = "log"
OFF = "off"
TIERS = (OFF, LOG, ASK, DENY)  # from the mildest to the firmest
MAX_OPERANDS = 16  # in which the words of a row are looked for

_CLEAN = "Delete named files or folders inside the project instead."
_COMMIT = "Commit or stash first (git stash push -u), then it can be undone."
_PERSON = "Say what should be done and why, and let the user run it."
_DRY = "Show what would be affected first, then let the user decide."

RULES: dict[str, tuple[str, str, str]] = {
    # Irreversible
    "delete.system": (DENY, "deletes a part of the operating system", _CLEAN),
    "delete.home": (DENY, "deletes the home directory or a main folder of it", _CLEAN),
    "delete.project": (
        DENY,
        "deletes the whole project",
        "Name the files or folders to delete; build output alone is free to go.",
    ),
    "delete.git": (
        DENY,
        "deletes a repository's history",
        "To undo commits or changes use git itself; to start again ask the user.",
    ),
    "delete.unknown": (
        ASK,
        "deletes recursively what cannot be known in advance",
        "Write the path out, or print it first and then delete that path.",
    ),
    "delete.outside": (
        ASK,
        "deletes recursively outside the project",
        "Work inside the project, or let the user confirm the exact path.",
    ),
    "delete.inside": (LOG, "deletes a folder of the project", ""),
    "disk.overwrite": (DENY, "overwrites or formats a disk", _PERSON),
    "disk.manage": (ASK, "changes disks, volumes or file systems", _PERSON),
    "system.fork-bomb": (DENY, "is a fork bomb", "Bound the number of processes."),
    "system.endless-spawning": (
        ASK,
        "starts processes in the background without end",
        "Bound the loop, or wait in it.",
    ),
    "system.permissions": (
        DENY,
        "changes permissions or owners of the system or the home directory",
        "Change single files inside the project.",
    ),
    "system.world-writable": (
        ASK,
        "opens files to everyone, recursively",
        "Give the one file the mode it needs, e.g. chmod u+x FILE.",
    ),
    "system.power": (DENY, "stops the machine", _PERSON),
    "system.kill-all": (DENY, "kills every process", "Kill one process by its id."),
    "system.users": (ASK, "changes accounts, groups or passwords", _PERSON),
    "system.services": (ASK, "stops or disables a system service or the firewall", _PERSON),
    "system.schedule": (ASK, "removes or replaces scheduled jobs", "Show them first: crontab -l."),
    "system.packages": (ASK, "removes system packages", _PERSON),
    # Secrets and protected paths
    "path.secret": (
        DENY,
        "reaches for private keys or credentials",
        "Ask the user for what is needed; public parts (*.pub, known_hosts) and examples (.env.example) are free to read.",
    ),
    "path.env": (
        DENY,
        "reaches for a file of secrets",
        "Read .env.example or the code that uses the variables; ask the user for values.",
    ),
    "path.env-write": (ASK, "writes a file of secrets", "Write .env.example, and let the user fill in the real file."),
    "path.sensitive": (ASK, "opens a file that often holds secrets", "Ask the user for the part that is needed."),
    "path.startup": (ASK, "changes a file that runs whenever a shell starts", "Show the line and let the user add it."),
    "path.system": (ASK, "changes a file of the operating system", _PERSON),
    "path.system-core": (DENY, "overwrites accounts, boot files or devices of the system", _PERSON),
    "path.git-hooks": (
        ASK,
        "changes what git runs by itself",
        "Use the project's own hook tooling, or let the user confirm.",
    ),
    "path.ci": (ASK, "changes what the build server runs", "Show the change and let the user confirm it."),
    "path.confirm-write": (
        ASK,
        "changes a file that is to be confirmed",
        "Show the change and let the user confirm it.",
    ),
    "path.no-delete": (ASK, "deletes a file that projects keep", "Edit it instead, or let the user confirm."),
    "exfil.secret": (DENY, "sends secrets elsewhere", "Nothing that holds keys leaves this machine; ask the user."),
    "exfil.environment": (
        ASK,
        "sends the environment, with all its secrets, elsewhere",
        "Send the one value that is needed, with the user's consent.",
    ),
    "exfil.metadata": (ASK, "asks the cloud's metadata service for credentials", _PERSON),
    # Ourselves
    "self.audit": (
        DENY,
        "touches the audit trail, which only grows by itself",
        "Read it with: harness memory audit show.",
    ),
    "self.memory": (DENY, "changes the memory behind its back", "Use the command line: harness memory --help."),
    "self.guard": (DENY, "changes the guard's own code", "Rules are the user's to change: harness guard rules."),
    "self.settings": (
        DENY,
        "changes the client's settings, hooks included",
        "Show the change and let the user make it.",
    ),
    "self.project-settings": (
        ASK,
        "changes settings of the client for this project",
        "Show the change and let the user make it.",
    ),
    "self.allow": (
        DENY,
        "lets the guard be overruled, which is for people alone",
        "Ask the user to run it in a terminal of their own.",
    ),
    "self.uninstall": (ASK, "switches the memory or its guard off", _PERSON),
    "self.forget": (ASK, "removes what is remembered", "Show the preview first (without --yes, or with --dry-run)."),
    # Git
    "git.reset-hard": (ASK, "throws away uncommitted work", _COMMIT),
    "git.clean": (ASK, "deletes untracked files for good", "Look first with git clean -n, then delete what is named."),
    "git.discard": (ASK, "throws away all uncommitted changes", _COMMIT),
    "git.discard-file": (LOG, "throws away the changes of a file", ""),
    "git.stash-drop": (ASK, "deletes stashed work", "Look first with git stash show -p; git stash pop brings it back."),
    "git.branch-delete": (
        ASK,
        "deletes a branch that may hold unmerged work",
        "git branch -d deletes only what is merged.",
    ),
    "git.force-push": (
        ASK,
        "rewrites a shared branch on the remote",
        "Push to a branch of your own, or use --force-with-lease there.",
    ),
    "git.force-push-own": (LOG, "rewrites a branch of your own on the remote", ""),
    "git.push-delete": (ASK, "deletes a branch or tag on the remote", _PERSON),
    "git.rewrite": (
        ASK,
        "rewrites history or removes its safety net",
        "Make a backup branch first and let the user confirm.",
    ),
    "git.worktree": (
        ASK,
        "removes a work tree with its uncommitted work",
        "Without --force git refuses where something would be lost.",
    ),
    # Outward-facing or hard to undo
    "remote.pipe-to-shell": (ASK, "runs code straight from the network", "Download it, read it, then run the file."),
    "remote.shell": (DENY, "opens a shell to the network", _PERSON),
    "docker.mount": (
        ASK,
        "hands the whole disk or the home directory to a container",
        "Mount the one folder that is needed.",
    ),
    "code.hidden": (ASK, "runs code that was encoded or cannot be read", "Write the commands in the open."),
    "kube.delete": (ASK, "deletes or drains resources of a cluster", _DRY),
    "infra.destroy": (
        ASK,
        "destroys or rewrites infrastructure",
        "Show the plan first (terraform plan) and let the user apply it.",
    ),
    "docker.prune": (ASK, "deletes containers, images or volumes with their data", "Remove single items by name."),
    "cloud.delete": (ASK, "deletes resources in the cloud", _DRY),
    "db.destroy": (
        ASK,
        "deletes data or tables",
        "Select first what would be lost, make a backup, let the user confirm.",
    ),
    "publish": (ASK, "publishes to the outside", "Use a dry run (--dry-run) and let the user publish."),
    "repo.delete": (ASK, "deletes or changes a repository, release or secret on the host", _PERSON),
    "backup.delete": (ASK, "deletes backups or snapshots", _DRY),
    "mail.send": (LOG, "sends mail", _PERSON),
    # The guard itself
    "guard.unreadable": (
        ASK,
        "cannot be read as shell text, and begins something destructive",
        "Write it as plain commands.",
    ),
    "guard.failed": (ASK, "could not be judged", "Try a simpler form, or let the user decide."),
}

# Loosened in the user's own file only: no project may touch these.
CORE = ("delete.home", "delete.system", "self.audit", "self.memory", "self.guard", "self.settings", "self.allow")

# A program under another name where its targets cannot be known: `docker rm -f $(docker ps -aq)`.
UNKNOWN_TARGETS = {"docker": "docker?", "podman": "docker?"}

_DRY_RUN = "--dry-run --dryrun -n --help -h"
_K8S = "kubectl oc k kubecolor"
_DOCKER = "docker podman nerdctl"
_TERRAFORM = "terraform tofu terragrunt"

COMMANDS: tuple[tuple[str, str, str, str, str], ...] = (
    ("kube.delete", _K8S, "delete", "", "--dry-run --help -h can-i explain"),
    ("kube.delete", _K8S, "drain|cordon", "", "--dry-run --help -h"),
    ("kube.delete", _K8S, "replace", "--force", "--dry-run --help -h"),
    ("kube.delete", _K8S, "scale", "--replicas=0", "--dry-run --help -h"),
    ("kube.delete", "helm", "uninstall|delete|un", "", "--dry-run --help -h"),
    ("kube.delete", "eksctl kops kind k3d minikube ctlptl", "delete", "", "--help -h"),
    ("kube.delete", "velero", "delete", "", "--help -h"),
    ("kube.delete", "argocd", "app delete", "", "--help -h"),
    ("kube.delete", "flux", "uninstall|delete", "", "--help -h"),
    ("infra.destroy", _TERRAFORM, "destroy", "", "--help -h -help"),
    ("infra.destroy", _TERRAFORM, "run-all destroy", "", ""),
    ("infra.destroy", _TERRAFORM, "apply", "-destroy --destroy -auto-approve --auto-approve", "--help -h -help"),
    ("infra.destroy", _TERRAFORM, "state rm|push|replace-provider", "", "--help -h -help -dry-run"),
    ("infra.destroy", _TERRAFORM, "workspace delete", "", "--help -h -help"),
    ("infra.destroy", _TERRAFORM, "taint|force-unlock", "", "--help -h -help"),
    ("infra.destroy", "pulumi", "destroy|down|dn", "", "--preview-only --help -h"),
    ("infra.destroy", "pulumi", "stack rm", "", "--help -h"),
    ("infra.destroy", "cdk cdktf sls serverless sst sam copilot amplify", "destroy|remove|delete", "", "--help -h"),
    ("infra.destroy", "vagrant", "destroy", "", "--help -h"),
    ("infra.destroy", "multipass", "delete|purge", "", "--help -h"),
    ("infra.destroy", "virsh", "undefine|destroy", "", "--help -h"),
    ("infra.destroy", "lxc incus", "delete", "", "--help -h"),
    ("infra.destroy", "qm pct", "destroy", "", "--help -h"),
    ("docker.prune", _DOCKER, "system|volume prune", "", "--help -h"),
    ("docker.prune", _DOCKER, "image|container|network|builder prune", "-a --all", "--help -h"),
    ("docker.prune", _DOCKER, "volume rm|remove", "", "--help -h"),
    ("docker.prune", "docker?", "rm|rmi", "-f --force", "--help -h"),
    ("docker.prune", _DOCKER, "system reset", "", "--help -h"),
    ("docker.prune", _DOCKER, "compose down", "-v --volumes --rmi", "--help -h --dry-run"),
    ("docker.prune", _DOCKER, "compose rm", "-v --volumes", "--help -h --dry-run"),
    ("docker.prune", _DOCKER, "swarm leave", "--force -f", "--help -h"),
    ("docker.prune", _DOCKER, "stack|service|secret|config rm", "", "--help -h"),
    ("docker.prune", "docker-compose podman-compose", "down", "-v --volumes --rmi", "--help -h"),
    ("docker.prune", "docker-compose podman-compose", "rm", "-v", "--help -h"),
    ("cloud.delete", "aws", "s3 rb", "", _DRY_RUN),
    ("cloud.delete", "aws", "s3 rm", "--recursive", _DRY_RUN),
    ("cloud.delete", "aws", "s3 sync", "--delete", _DRY_RUN),
    ("cloud.delete", "aws", "delete-*|terminate-*|remove-*|purge-*|deregister-*|destroy-*|reset-*|revoke-*|disable-*|cancel-*|schedule-key-deletion|stop-instances|release-address|detach-*", "", "--dry-run help --generate-cli-skeleton"),
    ("cloud.delete", "aws", "put-bucket-policy|put-bucket-acl|put-public-access-block|modify-db-instance", "", "--dry-run help"),
    ("cloud.delete", "gcloud bq az doctl hcloud linode-cli scw oci ibmcloud yc aliyun vultr-cli exo civo nomad", "delete|destroy|purge|remove|rm|terminate|*-delete", "", "--help -h --dry-run"),
    ("cloud.delete", "gcloud", "projects|sql|compute|container|storage delete|reset|stop|rm", "", "--help -h"),
    ("cloud.delete", "gsutil", "rm|rb", "-r -R -a", "--help -h"),
    ("cloud.delete", "gsutil", "rb", "", "--help -h"),
    ("cloud.delete", "gsutil", "rsync", "-d", "-n --help -h"),
    ("cloud.delete", "gcloud", "storage rm|rsync", "-r --recursive --delete-unmatched-destination-objects", "--dry-run --help -h"),
    ("cloud.delete", "bq", "rm", "", "--help -h"),
    ("cloud.delete", "az", "group|vm|storage|aks|sql|keyvault|webapp|functionapp|ad|network|cosmosdb|acr delete|purge|deallocate", "", "--help -h"),
    ("cloud.delete", "az", "storage blob|file|directory delete-batch|delete", "", "--dryrun --help -h"),
    ("cloud.delete", "azcopy", "rm|remove", "", "--dry-run --help -h"),
    ("cloud.delete", "azcopy", "sync", "--delete-destination", "--dry-run --help -h"),
    ("cloud.delete", "heroku", "apps:destroy|repo:reset|pg:reset|apps:delete|addons:destroy|pipelines:destroy|ps:kill|releases:rollback|pg:copy", "", "--help -h"),
    ("cloud.delete", "fly flyctl", "apps|volumes|machine|machines|postgres|secrets|app|volume destroy|delete|unset", "", "--help -h"),
    ("cloud.delete", "fly flyctl", "destroy", "", "--help -h"),
    ("cloud.delete", "vercel now", "rm|remove", "", "--help -h"),
    ("cloud.delete", "vercel", "env|domains|dns|project|secrets|alias rm|remove", "", "--help -h"),
    ("cloud.delete", "netlify", "sites:delete|env:unset|api", "", "--help -h"),
    ("cloud.delete", "firebase", "firestore:delete|database:remove|hosting:disable|functions:delete|auth:import|projects:delete|apps:android:sha:delete", "", "--help -h"),
    ("cloud.delete", "supabase", "db reset", "--linked", "--help -h"),
    ("cloud.delete", "supabase", "projects|branches|functions|secrets|storage delete|unset|rm", "", "--help -h"),
    ("cloud.delete", "wrangler", "delete", "", "--help -h --dry-run"),
    ("cloud.delete", "wrangler", "kv:key|kv:namespace|r2|d1|kv|secret|pages delete|bucket", "", "--help -h get list create put"),
    ("cloud.delete", "railway render", "down|delete", "", "--help -h"),
    ("cloud.delete", "rclone", "delete|purge|deletefile|cleanup|rmdirs", "", "--dry-run -n --help -h"),
    ("cloud.delete", "rclone", "sync|move", "", "--dry-run -n --help -h"),
    ("cloud.delete", "s3cmd mc s5cmd", "del|rb|rm|expire", "--recursive -r --force -f", "--dry-run -n --help -h"),
    ("cloud.delete", "s3cmd mc", "rb", "", "--help -h"),
    ("cloud.delete", "cf", "delete|delete-service|delete-org|delete-space", "", "--help -h"),
    ("cloud.delete", "vault", "delete|destroy", "", "--help -h"),
    ("cloud.delete", "vault", "kv|operator|secrets|token|policy|auth|lease|namespace delete|destroy|seal|disable|metadata|revoke", "", "--help -h get put list read"),
    ("cloud.delete", "op", "vault|item|document|user|group|service-account delete", "", "--help -h"),
    ("cloud.delete", "doppler", "secrets|projects|configs|environments delete", "", "--help -h"),
    ("cloud.delete", "consul etcdctl", "del|delete|kv", "-recurse --prefix --from-key", "--help -h get put"),
    ("cloud.delete", "kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-acls", "", "--delete --remove", "--help"),
    ("cloud.delete", "rabbitmqctl", "reset|force_reset|delete_queue|delete_vhost|purge_queue|delete_user", "", ""),
    ("db.destroy", "dropdb dropuser", "", "", "--help"),
    ("db.destroy", "mysqladmin mariadb-admin", "drop", "", "--help"),
    ("db.destroy", "redis-cli valkey-cli keydb-cli", "flushall|flushdb", "", ""),
    ("db.destroy", "redis-cli valkey-cli", "config set|resetstat|rewrite", "", ""),
    ("db.destroy", "redis-cli valkey-cli", "shutdown|debug", "", ""),
    ("db.destroy", "prisma", "migrate reset", "", "--help -h"),
    ("db.destroy", "prisma", "db push", "--force-reset --accept-data-loss", "--help -h"),
    ("db.destroy", "drizzle-kit", "drop", "", "--help -h"),
    ("db.destroy", "rails rake", "db:drop|db:drop:*|db:reset|db:purge|db:schema:load|db:migrate:reset|db:truncate_all", "", "--help -h"),
    ("db.destroy", "artisan", "migrate:fresh|migrate:reset|migrate:refresh|db:wipe", "", "--help -h"),
    ("db.destroy", "manage.py", "flush|reset_db|sqlflush", "", "--help -h"),
    ("db.destroy", "sequelize sequelize-cli", "db:drop|db:migrate:undo:all", "", "--help -h"),
    ("db.destroy", "typeorm", "schema:drop", "", "--help -h"),
    ("db.destroy", "mix", "ecto.drop|ecto.reset", "", "--help"),
    ("db.destroy", "knex", "migrate:rollback", "--all", "--help"),
    ("db.destroy", "alembic", "downgrade base", "", "--help --sql"),
    ("db.destroy", "dotnet-ef", "database drop", "", "--dry-run --help -h"),
    ("db.destroy", "dotnet", "ef database drop", "", "--dry-run --help -h"),
    ("db.destroy", "flyway", "clean", "", "--help"),
    ("db.destroy", "liquibase", "drop-all|dropall", "", "--help"),
    ("db.destroy", "pg_dropcluster", "", "", "--help"),
    ("db.destroy", "doctrine", "database:drop|schema:drop", "", "--help"),
    ("db.destroy", "console", "doctrine:database:drop|doctrine:schema:drop", "", "--help"),
    ("publish", "npm pnpm", "publish|unpublish", "", "--dry-run --help -h"),
    ("publish", "npm pnpm", "deprecate", "", "--dry-run --help -h"),
    ("publish", "npm pnpm", "dist-tag|owner|access|team|token add|rm|grant|revoke|set|create", "", "--dry-run --help -h"),
    ("publish", "yarn", "publish", "", "--dry-run --help -h"),
    ("publish", "yarn", "npm publish", "", "--dry-run --help -h"),
    ("publish", "bun deno jsr", "publish", "", "--dry-run --help -h"),
    ("publish", "lerna changeset", "publish", "", "--dry-run --help -h"),
    ("publish", "semantic-release release-it np", "", "", "--dry-run -d --help -h --version -v"),
    ("publish", "cargo", "publish|yank", "", "--dry-run -n --help -h"),
    ("publish", "cargo", "owner", "--add --remove -a -r", "--help -h"),
    ("publish", "twine", "upload", "", "--help -h"),
    ("publish", "poetry uv flit hatch pdm maturin", "publish", "", "--dry-run --help -h"),
    ("publish", "maturin", "upload", "", "--help -h"),
    ("publish", "setup.py", "upload", "", "--dry-run --help"),
    ("publish", "gem", "push|yank", "", "--help -h"),
    ("publish", "mvn mvnw", "deploy|deploy:deploy-file|release:perform", "", "--help -h -ddryrun=true"),
    ("publish", "gradle gradlew", "publish|publishplugins|uploadarchives|publishtosonatype|closeandreleasesonatypestagingrepository", "", "--dry-run -m --help -h"),
    ("publish", "dotnet", "nuget push|delete", "", "--help -h"),
    ("publish", "nuget", "push|delete", "", "-help"),
    ("publish", "pod", "trunk push|delete|deprecate", "", "--help"),
    ("publish", "vsce ovsx", "publish|unpublish", "", "--help -h"),
    ("publish", "mix", "hex.publish", "", "--dry-run --help"),
    ("publish", "gh", "release create|upload", "", "--help -h"),
    ("publish", "goreleaser", "release", "", "--snapshot --skip=publish --help -h"),
    ("publish", "helm", "push", "", "--help -h"),
    ("publish", "luarocks", "upload", "", "--help"),
    ("publish", "dart flutter", "pub publish", "", "--dry-run -n --help -h"),
    ("repo.delete", "gh", "repo delete|archive|rename|edit", "", "--help -h"),
    ("repo.delete", "gh", "release|secret|variable|cache|label|gist|run|workflow|ssh-key|gpg-key|issue|codespace delete|remove|disable", "", "--help -h"),
    ("repo.delete", "gh", "auth logout|token|refresh", "", "--help -h"),
    ("repo.delete", "gh", "pr merge", "--admin", "--help -h"),
    ("repo.delete", "glab", "repo|release|variable|issue|mr delete|archive", "", "--help -h"),
    ("disk.manage", "fdisk sfdisk cfdisk sgdisk gdisk", "", "", "-l --list --help -h --version"),
    ("disk.manage", "parted", "", "", "-l --list --help print"),
    ("disk.manage", "diskutil", "erasedisk|erasevolume|partitiondisk|zerodisk|randomdisk|secureerase|apfs|reformat|eject|unmountdisk", "", "list info"),
    ("disk.manage", "blockdev", "", "--setro --setrw --flushbufs --rereadpt", "--help"),
    ("disk.manage", "lvremove vgremove pvremove lvreduce", "", "", "--help -t --test"),
    ("disk.manage", "zpool", "destroy|labelclear|remove", "", ""),
    ("disk.manage", "zfs", "destroy|rollback", "", "-n -nv"),
    ("disk.manage", "zfs", "receive|recv", "-F", "-n -nv"),
    ("disk.manage", "format-volume clear-disk initialize-disk remove-partition", "", "", "-whatif -WhatIf"),
    ("disk.manage", "btrfs", "subvolume delete", "", "--help"),
    ("disk.manage", "cryptsetup", "luksformat|erase|lukskillslot|luksremovekey|lukserase", "", "--help"),
    ("disk.manage", "mdadm", "", "--stop --zero-superblock --remove", "--help"),
    ("disk.manage", "tune2fs resize2fs e2fsck fsck xfs_repair", "", "", "-n --help -l -V"),
    ("disk.manage", "umount", "", "-a --all -l -f", "--help"),
    ("disk.manage", "swapoff", "", "-a", "--help"),
    ("disk.manage", "hdparm nvme", "--security-erase|format|sanitize", "", "--help"),
    ("disk.manage", "hdparm", "", "--security-erase --trim-sector-ranges --make-bad-sector", "--help"),
    ("backup.delete", "restic", "forget|prune", "", "--dry-run -n --help -h"),
    ("backup.delete", "borg", "delete|prune|repo-delete", "", "--dry-run -n --help -h"),
    ("backup.delete", "tmutil", "delete|deletelocalsnapshots|disable", "", ""),
    ("backup.delete", "vssadmin", "delete", "", ""),
    ("backup.delete", "wbadmin", "delete", "", ""),
    ("backup.delete", "duplicity", "remove-older-than|remove-all-but-n-full|cleanup", "--force", "--dry-run"),
    ("backup.delete", "snapper", "delete", "", ""),
    ("system.power", "shutdown poweroff halt reboot", "", "", "--help -c --version"),
    ("system.power", "init telinit", "0|6|1|s", "", ""),
    ("system.power", "systemctl", "poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|isolate", "", "--help"),
    ("system.power", "stop-computer restart-computer", "", "", "-whatif -WhatIf"),
    ("system.services", "systemctl", "stop|disable|mask|kill|set-default", "", "--help --user"),
    ("system.services", "service", "* stop", "", ""),
    ("system.services", "launchctl", "unload|bootout|remove|disable", "", ""),
    ("system.services", "iptables ip6tables nft", "", "-F -X -P --flush --policy flush delete", "-L --list -S"),
    ("system.services", "nft", "flush|delete", "", ""),
    ("system.services", "ufw", "disable|reset|delete", "", "status"),
    ("system.services", "firewall-cmd", "", "--panic-on --remove-service --remove-port --complete-reload", ""),
    ("system.services", "ip", "link set", "down", "up show"),
    ("system.services", "ip", "route|addr|address del|flush|delete", "", ""),
    ("system.services", "ifconfig", "* down", "", ""),
    ("system.services", "route", "del|delete|flush", "", ""),
    ("system.services", "nmcli", "networking|radio|connection off|delete", "", ""),
    ("system.services", "setenforce", "0|permissive", "", ""),
    ("system.services", "sysctl", "", "-w --write", ""),
    ("system.services", "auditctl", "", "-e -D", ""),
    ("system.services", "modprobe rmmod insmod", "", "-r", "--help"),
    ("system.services", "rmmod insmod", "", "", "--help"),
    ("system.schedule", "crontab", "", "-r", "-l"),
    ("system.schedule", "atrm", "", "", ""),
    ("system.schedule", "schtasks", "", "/delete", ""),
    ("system.users", "userdel deluser groupdel delgroup", "", "", "--help"),
    ("system.users", "usermod", "", "-l -d -s -g -aG -G -L -U -p -u", "--help"),
    ("system.users", "passwd chpasswd visudo", "", "", "--help -S --status -c"),
    ("system.users", "dscl", "delete|-delete", "", ""),
    ("system.users", "net", "user|localgroup", "/delete /add", ""),
    ("system.packages", "apt apt-get aptitude", "remove|purge|autoremove|full-upgrade|dist-upgrade", "", "--dry-run -s --simulate --help"),
    ("system.packages", "dpkg", "", "-P --purge -r --remove --force-all", "--help"),
    ("system.packages", "yum dnf zypper", "remove|erase|autoremove|rm", "", "--assumeno --help"),
    ("system.packages", "rpm", "", "-e --erase", "--test --help"),
    ("system.packages", "pacman", "", "-R -Rns -Rs -Rdd -Rsc -Rn -Rscn", "--print -p --help"),
    ("system.packages", "apk", "del", "", "--help -s --simulate"),
    ("system.packages", "brew", "uninstall|remove|rm|autoremove", "--force --ignore-dependencies --zap", "--help --dry-run -n"),
    ("system.packages", "snap flatpak", "remove|uninstall", "", "--help"),
    ("mail.send", "mail mailx sendmail mutt msmtp swaks", "", "", "--help --version -v"),
    ("git.rewrite", "bfg git-filter-repo", "", "", "--help -h --analyze"),
)  # fmt: skip


def matched(program: str, args: list[str]) -> str:
    """The id of the first row of COMMANDS that fits a call."""
    if not _ROWS:
        for row in COMMANDS:
            for name in row[1].split():
                _ROWS.setdefault(name, []).append(row)
    return next((row[0] for row in _ROWS.get(program, ()) if fits(row, args)), "")


_ROWS: dict[str, list[tuple[str, str, str, str, str]]] = {}


def fits(row: tuple[str, str, str, str, str], args: list[str]) -> bool:
    """Whether the arguments of a program are those that a row means."""
    _, _, words, flags, excuses = row
    if words and not _in_order(words.split(), _operands(args)):
        return False
    if flags and not any(_has(flag, args) for flag in flags.split()):
        return False
    return not excuses or set(excuses.split()).isdisjoint(_options(args))


def _operands(args: list[str]) -> list[str]:
    """The first of them: `_in_order` looks no further."""
    found: list[str] = []
    for arg in args:
        if arg[:1] not in ("-", "+"):
            found.append(arg.lower())
            if len(found) == MAX_OPERANDS:
                break
    return found


def _options(args: list[str]) -> list[str]:
    """The arguments that may excuse a call: not those that are the value of an option, as in `-m --help`."""
    return [
        arg.partition("=")[0]
        for before, arg in zip(["", *args], args)
        if not (arg[:1] == "-" and before in _TEXT_OPTIONS) and before != "--"
    ]


_TEXT_OPTIONS = ("-m", "--message", "-t", "--title", "--name", "--notes", "--body", "--description", "--comment")


def _has(flag: str, args: list[str]) -> bool:
    """A flag as a word, as `--flag=value`, or a single letter among others: `-fdx` has `-d`."""
    for arg in args:
        if arg == flag or arg.startswith(flag + "="):
            return True
        if (
            len(flag) == 2
            and flag[0] == "-"
            and arg[:1] == "-"
            and arg[1:2] != "-"
            and flag[1] in arg[1:]
            and arg[1:].isalpha()
        ):
            return len(arg) < 7
    return False


def _in_order(words: list[str], given: list[str]) -> bool:
    """Whether the operands begin with these words, values of options between them set aside."""
    at = 0
    for index, word in enumerate(words):
        found = next(
            (n for n in range(at, min(len(given), at + (5 if index == 0 else 2))) if _is_one(word, given[n])), -1
        )
        if found < 0:
            return False
        at = found + 1
    return True


def _is_one(alternatives: str, given: str) -> bool:
    for word in alternatives.split("|"):
        if (
            word == given
            or (word.endswith("*") and given.startswith(word[:-1]))
            or (word[:1] == "*" and word[1:] and given.endswith(word[1:]))
        ):
            return True
    return False
