/** Texts of the command-line reference beyond what commands declare themselves. */

export const FOREWORD = `\`flotilla\` is \`bin/flotilla\` in a checkout; link it onto the PATH, and also as \
\`kubectl-flotilla\`, so that \`kubectl flotilla …\` works
(and as \`kubectl_complete-flotilla\`, for its completion). The npm package installs all three.

Exit code 0 means success, 1 failure, 2 wrong usage; a command interrupted by Ctrl-C exits with 130, one stopped by SIGTERM with 143. Results are written to
standard output, progress and errors to standard error. Without a terminal a command that waits prints every 30 s \
what it waits for if that changed, and once a minute otherwise; with \`-o json\` and \`-o yaml\` it prints nothing. \
An error is one line: the action, the problem, and a remedy. With \`-o json\` it is an object,
\`{"error": {"code", "message", "exitCode"}}\`, with a code from [errors.md](errors.md). \`FLOTILLA_DEBUG=1\` also prints the stack trace.

On a terminal, tables fit its width: long names are shortened in the middle, and sentences are wrapped. In a file or \
a pipe nothing is shortened. Output is coloured on a
terminal, unless \`--no-color\`, \`NO_COLOR\` or \`TERM=dumb\` is set; \`FORCE_COLOR=1\` colours output in a pipe.`;

/** By the name of the command. */
export const commandNotes: Readonly<Record<string, string>> = {
  up: "[simulation.md](../simulation.md) describes how members are simulated, [propagation.md](../propagation.md#failover-and-eviction) the eviction flags.",
  why: "[The guide](../explain.md) has examples.",
  get: "[The guide](../fleet.md#objects-of-all-members) has examples.",
  describe: "[The guide](../fleet.md) has examples.",
  logs: "[The guide](../fleet.md) has examples.",
  exec: "[The guide](../fleet.md) has examples.",
  apply: "[The guide](../fleet.md#apply-with-the-plan-first) has examples.",
  plan: "[The guide](../explain.md#what-if) has examples.",
  adopt:
    "`--dry-run -o yaml` prints the objects that the hub would get. [The guide](../propagation.md#adopting-existing-objects) has examples.",
  doctor: "Read-only. Exits with 0 without problems, 1 with problems ([guide](../doctor.md)).",
  fsck: "[The guide](../doctor.md#a-damaged-store) has an example.",
  lint: "[lint.md](lint.md) describes every rule. Exits with 0 without errors, 1 with errors.",
  token: "[The guide](../agent.md) has examples.",
  register: "With `--image` it prints the objects that run the agent ([guide](../agent.md)).",
  agent:
    "`flotilla agent manifests --image IMAGE …` prints the objects that run the agent on the cluster itself ([guide](../agent.md)).",
  interpret:
    "`-f` takes files, directories (`-R`), patterns, URLs and `-`. [The guide](../interpreter.md#trying-rules-flotilla-interpret) has examples.",
};

export const AFTERWORD = `## The data directory

Defaults to \`~/.flotilla\`; set it with \`--data\` or \`$FLOTILLA_HOME\`. Only one process at a time may use it.

| file | contents |
|---|---|
| \`hub.kubeconfig\`, \`member1.kubeconfig\`, … | administrators' kubeconfigs, with a bearer token: the hub's gives \
access to every cluster, a member's only to its own |
| \`controllers.kubeconfig\` | the credentials of \`flotilla controllers\`, with a client certificate |
| \`flotilla.db\` | all objects (SQLite). \`flotilla snapshot save\` copies it; a file that is damaged or was written \
by a newer Flotilla is rejected and left unchanged. Every value has a checksum; \`flotilla fsck\` checks and repairs \
a damaged file ([guide](../doctor.md#a-damaged-store)) |
| \`flotilla.db.acknowledged\` | the newest acknowledged revision. A missing, empty or older \`flotilla.db\` is rejected because of it |
| \`pki/\` | the certificate authority, the serving certificate, an administrator's client certificate \
(\`client-admin.pem\`), the tokens of the kubeconfigs, the key that signs service account tokens. Certificates are \
renewed a month before they expire, also while it runs |
| \`flotilla.log\` | changes and failures, one line of JSON each; a full file (8 MB) becomes \`.1\`, and the previous one \`.2\` |
| \`up.json\` | the running process and its address, reported by a second start. Removed on a clean exit |
| \`last-start.json\` | the command and the port of the last start, for the hint when the hub does not respond |

All files are readable by their owner only. Permissions of other users are removed at each start; a directory, key or \
store that another user owns or may write to is rejected. The API server listens on 127.0.0.1 unless \`--bind-address\` is set.`;
