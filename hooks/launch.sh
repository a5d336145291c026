# Start hooks/$1.py for the plugin, whose hooks.json cannot know where Python is: sh launch.sh <event>
# The Windows Store's `python3` and an old Python end with an error and read nothing, so the next one can be tried.
here=${0%[/\\]*}
case $here in # a project's settings may set the environment, but not where the client keeps plugins
*/plugins/*) config=${here%%/plugins/*} memory=$config/memory ;;
*) config=${CLAUDE_CONFIG_DIR:-$HOME/.claude} memory=${HARNESS_MEMORY_HOME:-$config/memory} ;;
esac
if [ -f "$memory/installs.json" ]; then # installed twice: those hooks do the work
    ours="hooks/$1\.py.* harness-memory"
    grep -qs "$ours" "$config/settings.json" && exit 0
    if [ "$1" != pre_tool_use ] && grep -qsF "$CLAUDE_PROJECT_DIR/.claude/settings" "$memory/installs.json"; then
        # a project's own file cannot switch off the guard
        grep -qs "$ours" "$CLAUDE_PROJECT_DIR"/.claude/settings.json "$CLAUDE_PROJECT_DIR"/.claude/settings.local.json && exit 0
    fi
fi
[ -d /proc/self ] && system=/usr/bin/python3 || system= # a shim such as pyenv's takes longer than the hook
for python in $system python3 python py; do
    "$python" -I -S -X utf8 "$here/$1.py" --store= 2>/dev/null && exit 0
done
case $1 in
pre_tool_use)
    printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "Harness guard: found no Python 3.8 or later, so it cannot judge this call. Install Python, or run: claude plugin uninstall harness-memory"}}'
    ;;
session_start)
    printf '%s\n' '{"systemMessage": "Harness Memory: found no Python 3.8 or later. Nothing is remembered. Install Python, or run: claude plugin uninstall harness-memory"}'
    ;;
esac
exit 0
