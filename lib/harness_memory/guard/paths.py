"""What a path is: a secret, a start-up file, a part of the system, ours, or none of these.

Paths are compared in one form: absolute, folded, in lower case, with forward slashes, a drive as `/c`, the home
directory (anyone's) as `~`. Both the path as written and the place it really leads to are looked at.
"""

from __future__ import annotations

from ..base.process import system
from .shell import BRACKET, GLOBS, QUESTION, STAR, TILDE, UNKNOWN, Unreadable
from .words import folded, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .question import Environment

MAX_PATH_CHARS = 5000  # no system takes longer ones
MAX_JUDGED = 300  # of one question
READ, WRITE, DELETE = "read", "write", "delete"
SECRET, ENV, SENSITIVE, STARTUP = "path.secret", "path.env", "path.sensitive", "path.startup"

# Stores of keys: below the home, in the system, by name wherever they lie. Certain enough to deny.
_SECRET_DIRS = frozenset(".ssh .gnupg .password-store .1password .bitwarden .electrum".split())
_SECRET_HOME = tuple(
    ".aws/credentials|.aws/sso/cache|.aws/cli/cache|.azure/|.config/gcloud/|.kube/|.config/git/credentials"
    "|.config/gh/hosts|.config/hub|.config/op/|.cargo/credentials|.gem/credentials|.terraform.d/credentials"
    "|.local/share/keyrings/|library/keychains/|.mozilla/|.config/google-chrome|.config/chromium"
    "|.config/bravesoftware|.config/microsoft-edge|library/application support/google/chrome|library/cookies"
    "|library/application support/firefox|library/application support/bravesoftware|library/safari|snap/firefox"
    "|library/application support/chromium|library/application support/microsoft edge|snap/chromium"
    "|appdata/local/google/chrome|appdata/roaming/mozilla|appdata/local/microsoft/edge"
    "|appdata/roaming/microsoft/credentials|appdata/local/microsoft/credentials|appdata/roaming/microsoft/protect"
    "|.config/rclone/|.claude/.credentials.json|.codex/auth.json|.gemini/oauth_creds.json|.config/github-copilot/"
    "|.config/doctl/|.config/heroku/|.fly/config.yml|.config/solana/|.config/sops/age/|.config/keepassxc"
    "|.local/share/kwalletd|.oci/|.bitcoin/|.ethereum/|.vault-token|.config/pypoetry/auth.toml|.config/glab-cli/"
    "|.age/|.config/bitwarden|.config/stripe/|.config/netlify/|.wrangler/config|.config/.wrangler/config"
    "|.supabase/access-token".split("|")
)
_SENSITIVE_HOME = tuple(
    ".docker/config.json|.npmrc|.yarnrc.yml|.m2/settings|.gradle/gradle.properties|.composer/auth.json"
    "|.config/composer/auth.json|.terraformrc|.databrickscfg|.dbt/profiles.yml|.nuget/nuget/nuget.config"
    "|.bundle/config|appdata/roaming/npm/.npmrc|.config/containers/auth.json|.snowsql/|.snowflake/|.config/ngrok"
    "|.ngrok2/".split("|")
)
_SECRET_NAMES = frozenset(
    """
    id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk .netrc _netrc .pgpass .my.cnf .mylogin.cnf
    .git-credentials .pypirc .vault-token .vault_pass .dockercfg .s3cfg .boto .credentials.json oauth_creds.json
    login.keychain-db logins.json key4.db wallet.dat
    """.split()
)
_SECRET_SYSTEM = tuple(
    """
    /etc/shadow /etc/gshadow /etc/krb5.keytab /etc/kubernetes/admin.conf /etc/rancher/k3s/k3s.yaml /run/secrets/
    /var/run/secrets/ /dev/mem /dev/kmem /proc/kcore /etc/ssl/private/ /etc/security/opasswd /library/keychains/
    /system/library/keychains/ /c/windows/system32/config/sam
    """.split()
)
_NO_KEYS = frozenset(
    "config known_hosts known_hosts.old authorized_keys allowed_signers environment rc config.d".split()
)
# What may hold keys: worth a question.
_SENSITIVE_NAMES = frozenset(
    """
    .bash_history .zsh_history .python_history .mysql_history .psql_history .node_repl_history .sqlite_history
    .rediscli_history fish_history consolehost_history.txt .claude.json credentials.json credentials.toml master.key
    kubeconfig secrets.yml secrets.yaml secrets.json secrets.toml secret.key private.key private_key gcp-key.json
    .htpasswd .vault_password secret.yaml secret.yml secrets.env
    """.split()
)
_SENSITIVE_SUFFIXES = tuple(
    """
    .pem .key .p12 .pfx .jks .keystore .kdbx .ppk .pkcs12 .p8 .keytab .kubeconfig .tfstate .tfstate.backup .tfvars
    -credentials.json
    """.split()
)
_HARMLESS_ENV = frozenset(
    "example sample template tmpl tpl dist default defaults schema examples samples test testing ts js py md d".split()
)
_HARMLESS_KEY = ("cert", "chain", "public", "pub", "ca-", "ca.", "cacert", "bundle", "csr", "root", "dhparam")
_FIXTURES = frozenset(
    "test tests testdata test-data fixtures testing spec __tests__ node_modules site-packages vendor examples".split()
)
_STARTUP = frozenset(
    """
    ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile
    ~/.zlogin ~/.zlogout ~/.config/fish/config.fish ~/.xprofile ~/.xinitrc ~/.xsession ~/.pam_environment ~/.cshrc
    ~/.tcshrc ~/.kshrc ~/.inputrc ~/.ssh/rc ~/.ssh/authorized_keys ~/.ssh/config /etc/profile /etc/bash.bashrc
    /etc/zshrc
    """.split()
)
_STARTUP_DIRS = ("~/.config/fish/conf.d/", "~/.config/autostart/", "~/library/launchagents/", "~/.config/systemd/user/")
_SYSTEM_DIRS = frozenset("etc usr bin sbin lib lib32 lib64 libx32 boot sys proc system library".split())
_SYSTEM_PREFIXES = ("/c/windows", "/c/program files", "/var/spool/cron", "/var/lib/dpkg", "/var/lib/rpm")
_CORE_FILES = tuple(
    """
    /etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/fstab /boot/ /etc/ld.so.preload /etc/pam.d/
    /proc/sysrq-trigger /proc/sys/ /sys/ /etc/crontab /etc/cron
    """.split()
)
_DISKS = tuple(
    """
    /dev/sd /dev/nvme /dev/hd /dev/vd /dev/xvd /dev/mmcblk /dev/disk /dev/rdisk /dev/dm- /dev/md /dev/mapper/
    /dev/mem /dev/kmem /dev/port /dev/root /dev/block
    """.split()
)
_FREE_PREFIXES = ("/usr/local/", "/usr/src/", "/library/caches/", "/proc/self/fd/", "/etc/hosts.d/")
_CI_NAMES = frozenset(
    """
    .gitlab-ci.yml .travis.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .drone.yml .woodpecker.yml
    appveyor.yml .appveyor.yml cloudbuild.yaml buildspec.yml codemagic.yaml
    """.split()
)
_CI_DIRS = ("/.github/workflows/", "/.github/actions/", "/.circleci/", "/.buildkite/", "/.woodpecker/", "/.gitlab/ci/")
_NO_DELETE = frozenset("claude.md license license.md license.txt .gitignore .gitattributes agents.md".split())
_SAMPLES = tuple(
    """
    id_rsa id_ed25519 .ssh .aws .gnupg .kube .docker .netrc .npmrc .pypirc .git-credentials .pgpass .env .env.local
    credentials config.json server.key key.pem shadow hosts.yml gcloud .config .vault-token .bash_history
    """.split()
)
_OWN_SAMPLES = ("settings.json", "settings.local.json", "guard.json", "audit.jsonl")


class Scope:
    """Where a call is made: the directories that rules speak of, in the form that paths are compared in."""

    def __init__(self, *, home: str, project: str, cwd: str, root: str, tree: str, env: Environment) -> None:
        self.home = home
        self.project = project or cwd
        self.cwd = cwd
        self.user = (env.get("USER") or env.get("LOGNAME") or home.rpartition("/")[2]).lower()
        self.homes = tuple(dict.fromkeys([form(home), form(_real(home))]))
        self.root = [form(root), form(_real(root))] if root else []
        self.tree = [form(tree), form(_real(tree))] if tree else []
        config = env.get("CLAUDE_CONFIG_DIR") or home + "/.claude"
        self.config = [form(config), form(_real(config))]
        temps = ["/tmp", "/var/tmp", "/dev/shm", "/var/folders", "/c/temp", "/c/tmp", "/c/windows/temp"]
        self.temps = temps + [form(env[name]) for name in ("TMPDIR", "TEMP", "TMP") if len(env.get(name, "")) > 2]
        self.places = (form(cwd), form(self.project))
        self.memory: str | None = None  # the folder of this project's memory, once it is asked for
        self.judged: dict[tuple[str, str, str], str] = {}


def absolute(word: str, cwd: str, scope: Scope) -> str:
    """A word as a path in the form described above; relative ones as seen from `cwd`."""
    path = word
    if path.startswith("file:"):
        path = "/" + path[5:].lstrip("/")
    lower = path[:14].lower()
    for variable in ("%userprofile%", "%homepath%", "%home%", UNKNOWN + ":userprofile", UNKNOWN + ":home"):
        if lower.startswith(variable):
            path = TILDE + path[len(variable) :]
            break
    if path[:1] == TILDE and path[1:2] not in ("", "/", "\\"):
        name, slash, rest = path[1:].replace("\\", "/").partition("/")
        own = TILDE if name.lower() == scope.user else "/root" if name == "root" else "/home/" + name
        path = (scope.cwd if name == "+" else UNKNOWN if name == "-" else own) + slash + rest
    return form(joined(form(cwd, scope), form(path, scope)), scope)


def form(path: str, scope: Scope | None = None) -> str:
    if "\\" in path:
        path = path.replace("\\", "/")
    if path[1:2] == ":" and path[:1].isalpha():
        path = "/" + path[0] + path[2:]
    if path.startswith("//?/"):
        path = path[3:]
    path = folded(path).lower()
    if path.startswith("/mnt/c/"):
        path = path[4:]
    if path.startswith(("/private/tmp", "/private/var", "/private/etc")):
        path = path[8:]
    if scope is not None:
        if path[:1] == TILDE:
            path = scope.homes[0] + path[1:]
        while path.startswith(("/proc/self/root", "/proc/1/root")):
            path = path[path.index("/root") + 5 :] or "/"
    return path


def _real(path: str) -> str:
    """Where a path leads, as far as links can be read; without `os`, which costs a hook a millisecond."""
    done = ""
    waiting = path.split("/")[1:] if path.startswith("/") else []
    jumps = 0
    while waiting:
        piece = waiting.pop(0)
        if piece == "..":
            done = done.rpartition("/")[0]
            continue
        if piece in ("", "."):
            continue
        here = done + "/" + piece
        try:
            target = system.readlink(here) if jumps < 20 else ""
        except FileNotFoundError:  # nor does anything below it exist
            if ".." not in waiting:
                return "/".join([here, *(each for each in waiting if each not in ("", "."))])
            target = ""
        except (OSError, ValueError):
            target = ""
        if not target:
            done = here
            continue
        jumps += 1
        if target.startswith("/"):
            done = ""
        waiting = target.split("/") + waiting
    return done or path


def has_link(path: str) -> bool:
    """Whether a link stands anywhere on the way."""
    return _real(path) != folded(path)


def home_relative(path: str, scope: Scope) -> str:
    """`~/...` for a path below anyone's home directory; `~` for one itself; else the path."""
    for home in scope.homes:
        if path == home or path.startswith(home + "/"):
            return "~" + path[len(home) :]
    pieces = path.split("/")
    if path.startswith(("/home/", "/users/")) and len(pieces) > 2 and pieces[2] not in ("", "shared"):
        return "/".join(["~", *pieces[3:]])
    if path.startswith("/c/users/") and len(pieces) > 3 and pieces[3] not in ("", "public"):
        return "/".join(["~", *pieces[4:]])
    if path == "/root" or path.startswith("/root/"):
        return "~" + path[5:]
    return path


def is_temporary(path: str, scope: Scope) -> bool:
    """Below a folder for temporary files, unless that holds the home or the project."""
    for temp in scope.temps:
        if is_within(path, temp):
            return not any(is_within(path, place) for place in (*scope.homes, scope.places[1]))
    return False


def is_within(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def variants(word: str, cwd: str, scope: Scope, access: str = READ) -> Iterator[str]:
    """The paths that a word may stand for: as written, as patterns may complete it, as links lead it."""
    path = absolute(word, cwd, scope)
    yield path
    if not GLOBS.isdisjoint(path):
        # The first name that matters for each piece that is a pattern; `*` alone aims at nothing.
        pieces = path.split("/")
        names = [next((n for n in _samples(piece, access) if matches(piece, n)), piece) for piece in pieces]
        if names != pieces:
            yield "/".join(names)
    elif UNKNOWN not in path:
        # Links are followed from the words as written: file systems may know upper and lower case.
        exact = joined(joined(scope.cwd, cwd), word.replace(TILDE, scope.home, 1) if word[:1] == TILDE else word)
        real = _real(exact)
        if real != exact:
            yield form(real, scope)


def _samples(piece: str, access: str) -> tuple[str, ...]:
    """The names that a pattern may be meant to complete to."""
    if GLOBS.isdisjoint(piece) or access == DELETE:  # what is in the folder goes; that is judged as such
        return ()
    own = _OWN_SAMPLES if access == WRITE else ()
    if len([char for char in piece if char not in GLOBS and char != "]"]) < 2 and piece[:1] != ".":
        return own
    if piece[:1] == STAR:  # `*.yml` does not aim at secrets.yml, `*.pem` aims at keys
        return (*own, "server.key", "key.pem", "id_rsa") if piece[-4:] in (".key", ".pem", "_rsa") else own
    return own if piece.startswith(".git") else (*own, *_SAMPLES)


def matches(pattern: str, name: str) -> bool:
    """Whether the shell could complete `pattern`, with its markers, to `name`."""
    if pattern[:1] in GLOBS and name[:1] == ".":
        return False
    at = index = mark = 0
    star = -1
    while index < len(name):
        char = pattern[at : at + 1]
        if char == STAR:
            star, mark = at, index
            at += 1
            continue
        width = 1
        is_equal = char == name[index] or char in (QUESTION, UNKNOWN)
        if char == BRACKET:
            end = pattern.find("]", at + 1)
            width = end + 1 - at if end > 0 else 1
            is_equal = end > 0 and _in_class(pattern[at + 1 : end], name[index])
        if char and is_equal:
            at += width
            index += 1
        elif star >= 0:
            mark += 1
            at, index = star + 1, mark
        else:
            return False
    return not pattern[at:].strip(STAR)


def _in_class(text: str, char: str) -> bool:
    negated = text[:1] in ("!", "^")
    chars = text[1:] if negated else text
    found = char in chars
    for at in range(1, len(chars) - 1):
        if chars[at] == "-" and chars[at - 1] <= char <= chars[at + 1]:
            found = True
    return found != negated


# What a path is ------------------------------------------------------------------------------------


def rule_for(word: str, access: str, cwd: str, scope: Scope) -> str:
    """The id of the rule that stands against this access; "" when none does."""
    if len(word) > MAX_PATH_CHARS:
        return ""
    key = (word, access, cwd)
    rule = scope.judged.get(key)
    if rule is None:
        if len(scope.judged) >= MAX_JUDGED:
            raise Unreadable("more paths than can be judged")
        rules = (_rule(path, access, scope) for path in variants(word, cwd, scope, access))
        rule = scope.judged[key] = next((each for each in rules if each), "")
    return rule


def _rule(path: str, access: str, scope: Scope) -> str:
    name = path.rpartition("/")[2]
    local = home_relative(path, scope)
    rule = _secret(path, name, local, scope)
    if rule == SENSITIVE and access != READ:
        rule = ""
    if rule and not (local == path and is_temporary(path, scope)):
        return rule if access == READ or rule != ENV else "path.env-write"
    if access == READ:
        return _other_memory(path, scope)
    return own_rule(path, access, scope) or _guarded(path, name, local, access, scope)


def _secret(path: str, name: str, local: str, scope: Scope) -> str:
    pieces = path.split("/")
    if name.endswith((".pub", ".example", ".sample", ".template", ".dist", ".tmpl")):
        return ""
    secret_dirs = [at for at, piece in enumerate(pieces) if piece in _SECRET_DIRS]
    if secret_dirs:
        inner = pieces[secret_dirs[0] + 1 : secret_dirs[0] + 2]
        return "" if inner and (inner[0] in _NO_KEYS or inner[0].startswith("known_hosts")) else SECRET
    if name in _SECRET_NAMES or (
        name.startswith(("id_rsa", "id_ed25519", "id_ecdsa")) and "." not in name.replace(".bak", "")
    ):
        return "" if _is_fixture(path, scope) else SECRET
    if local[:2] == "~/" and (local[2:] + "/").startswith(_SECRET_HOME):
        return SECRET
    if local in ("~/.aws", "~/.kube", "~/.azure", "~/.config/gcloud"):
        return SECRET
    if path.startswith(_SECRET_SYSTEM) or (path.startswith("/etc/ssh/ssh_host_") and name.endswith("_key")):
        return SECRET
    if pieces[1:2] == ["proc"] and pieces[-1] in ("environ", "mem") and len(pieces) > 3:
        return SENSITIVE if pieces[2] != "self" else ""
    if is_env(name):
        return "" if _is_fixture(path, scope) else ENV
    if local[:2] == "~/" and local[2:].startswith(_SENSITIVE_HOME):
        return SENSITIVE
    return SENSITIVE if _is_sensitive(path, name) and not _is_fixture(path, scope) else ""


def _is_sensitive(path: str, name: str) -> bool:
    if name in _SENSITIVE_NAMES or path.startswith("/etc/sudoers"):
        return True
    if name.endswith(_SENSITIVE_SUFFIXES):
        is_public = name.endswith((".pem", ".key")) and any(part in name for part in _HARMLESS_KEY)
        return not (is_public or len(name) < 5 or path.startswith("/etc/ssl/certs/"))
    plain = name.replace("-", "").replace("_", "")
    return name.endswith(".json") and (plain.startswith("clientsecret") or "serviceaccount" in plain)


def _is_fixture(path: str, scope: Scope) -> bool:
    """Made for tests, or part of a package: by the folders below the project, wherever that lies itself."""
    project = scope.places[1]
    return is_within(path, project) and not _FIXTURES.isdisjoint(path[len(project) :].split("/")[:-1])


def is_env(name: str) -> bool:
    """`.env` and its kin; examples, templates and tests are for everyone."""
    if not (name in (".env", ".flaskenv") or name.startswith(".env.") or (name.endswith(".env") and len(name) > 4)):
        return False
    return _HARMLESS_ENV.isdisjoint(name.replace("-", ".").replace("_", ".").split("."))


def own_rule(path: str, access: str, scope: Scope) -> str:
    """The rule for changing what is ours: the store, the installed code, the client's settings."""
    for root in scope.root:
        if is_within(path, root):
            return "self.audit" if "/security" in path[len(root) :] else "self.memory"
        if access == DELETE and is_within(root, path):
            return "self.memory"
    for config in scope.config:
        if path in (config + "/settings.json", config + "/settings.local.json"):
            return "self.guard" if access == DELETE else "self.settings"
    if path.endswith(("/.claude/settings.json", "/.claude/settings.local.json", "/.claude/guard.json")):
        return "self.project-settings"
    if path.endswith("/managed-settings.json"):
        return "self.settings"
    for tree in scope.tree:
        if is_within(path, tree) and not is_within(scope.places[1], tree):
            return "self.guard"
    return ""


def _other_memory(path: str, scope: Scope) -> str:
    """Another project's folder of the store: one that has sessions, and is not this project's. Or all of them."""
    for root in scope.root:
        if path == root or (path in scope.config and is_within(root, path)):
            return "self.other-memory"
        name, below, _ = path[len(root) + 1 :].partition("/") if path.startswith(root + "/") else ("", "", "")
        if not (GLOBS | {UNKNOWN}).isdisjoint(name) and (below or matches(name, "any-0123456789ab")):
            return "self.other-memory"
        if name and name[-13:-12] == "-" and len(name) > 13:
            if scope.memory is None:
                from ..project import identity

                scope.memory = form(identity.locate(scope.root[0], scope.project, scope.cwd).dir)
            if name != scope.memory.rpartition("/")[2]:
                return "self.other-memory"
    return ""


def own_names(scope: Scope) -> list[str]:
    """One of these is a part of every path that is ours."""
    roots = [root for root in scope.root if not any(is_within(root, config) for config in scope.config)]
    return [place.rstrip("/").rpartition("/")[2] for place in (*roots, *scope.tree, *scope.config)] + [".claude"]


def _guarded(path: str, name: str, local: str, access: str, scope: Scope) -> str:
    if local in _STARTUP or path in _STARTUP or local.startswith(_STARTUP_DIRS):
        return STARTUP
    if local in ("~/.gitconfig", "~/.config/git/config"):
        return "path.git-hooks"
    if path.startswith(_DISKS):
        return "disk.overwrite"
    if path.startswith(_CORE_FILES):
        return "path.system-core"
    if is_system(path) and not is_temporary(path, scope):
        return "path.system"
    inner = path.partition("/.git/")[2]
    if inner and (inner.startswith("hooks/") or inner in ("config", "hooks")):
        return "" if path.endswith((".sample", ".lock")) else "path.git-hooks"
    if name in _CI_NAMES or any(each in path for each in _CI_DIRS):
        return "path.ci"
    return "path.no-delete" if access == DELETE and name in _NO_DELETE else ""


def is_system(path: str) -> bool:
    if path.startswith(_FREE_PREFIXES):
        return False
    pieces = path.split("/", 2)
    return (len(pieces) > 1 and pieces[1] in _SYSTEM_DIRS and pieces[0] == "") or path.startswith(_SYSTEM_PREFIXES)
