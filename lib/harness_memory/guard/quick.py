"""Commands that are harmless at a glance: they need no reader.

Sound, because it looks at nothing it does not understand: no quote, escape, expansion, pattern or redirection, only
programs that neither delete nor show files, and no word that could name a secret. All else is read properly.
"""

from __future__ import annotations

# A text without any of these holds no path that is secret. Lower case.
HINTS = """
    .ssh id_rsa id_dsa id_ecdsa id_ed25519 _sk .gnupg .gpg .aws gcloud .azure .kube .docker .npmrc .pypirc netrc
    credential .env env. secret .pem .key .p12 .pfx .jks .keystore .kdbx .ppk keychain keyring keytab password
    passwd shadow sudoers vault _history mozilla firefox chrom brave microsoft .tfstate .tfvars .pgpass .my.cnf
    mylogin .terraform .s3cfg .boto .config auth.json .m2 .gradle .gem .cargo hosts.yml service-account
    service_account serviceaccount htpasswd environ kubeconfig .oci .databricks .snow .dbt bitcoin ethereum
    .electrum /proc .claude .codex .gemini cookies .fly .bitwarden .1password appdata library .age .sops 169.254
    metadata .yarnrc .composer admin.conf k3s.yaml master.key token ssh_host .nuget .bundle bitwarden .config/
    wallet .p8 client_secret private .asc wg0 _key -key
    """.split()

# What a script may be made of.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-./,:=@+%;&|\n")
_PROGRAMS = frozenset(
    "ls pwd cd echo true whoami which mkdir pytest tsc eslint prettier ruff mypy black jest vitest mocha".split()
)
_VERBS = {
    "git": frozenset("status log diff show add commit fetch pull branch rev-parse ls-files remote describe".split()),
    "npm": frozenset("test t install i ci ls list outdated".split()),
    "pnpm": frozenset("test install i ls list".split()),
    "yarn": frozenset("test install".split()),
    "cargo": frozenset("build check test run clippy fmt bench doc tree".split()),
    "go": frozenset("build test vet run fmt list mod version".split()),
    "pip": frozenset("install list show freeze check".split()),
}
_FORCES = frozenset("-D -d -f -M -m -C --force --delete --no-verify".split())  # of `git branch` and its like
_WRITES = ("--output", "-o", "--target", "--write", "http:", "https:")  # or an address to install from


def is_harmless(command: str, own: tuple[str, ...] = ()) -> bool:
    """`own`: the places that are ours, which no command may name and pass so easily."""
    text = command.replace("2>&1", "").replace("2>/dev/null", "")
    if not _PLAIN.issuperset(text):
        return False
    lower = text.lower()
    if any(hint in lower for hint in HINTS) or any(place and place in text for place in own):
        return False
    for mark in ";&|":
        text = text.replace(mark, "\n")
    return all(_is_quiet(part.split()) for part in text.split("\n"))


def _is_quiet(words: list[str]) -> bool:
    if not words:
        return True
    if any(word.startswith(_WRITES) or word == "--forc" for word in words):
        return False
    if words[0] in _PROGRAMS:
        return True
    if words[0] in ("head", "tail", "wc") and len(words) < 3:
        return len(words) == 1 or words[1][:1] == "-"  # at the end of a pipe
    letters = "".join([word for word in words if word[:1] == "-" and word[1:2] != "-"])
    if words[0] == "git" and (not {*"DdfMmC"}.isdisjoint(letters) or ("n" in letters and "commit" in words)):
        return False
    verbs = _VERBS.get(words[0])
    return verbs is not None and len(words) > 1 and words[1] in verbs and _FORCES.isdisjoint(words)
