/** What the reference says of the command line beyond what commands declare of themselves. */

export const FOREWORD = `\`flotilla\` is \`bin/flotilla\` in a checkout; link it onto the PATH, and as \`kubectl-flotilla\` too, so that \`kubectl flotilla …\` works
(and \`kubectl_complete-flotilla\`, for its completion). A package that npm installed brings all three.

Exit code 0 is fine, 1 failed, 2 wrong usage; a command that Ctrl-C stopped before it was done ends with 130, one that SIGTERM stopped with 143. Results go to
standard output, progress and errors to standard error. An error is one line: what was being done, what stood in the way, what to try. With \`-o json\` it is an object,
\`{"error": {"code", "message", "exitCode"}}\`, with a code of [errors.md](errors.md). \`FLOTILLA_DEBUG=1\` also says where it comes from.

On a terminal, tables fit its width: long names lose their middle, and sentences go on in the next line. In a file or a pipe nothing is shortened. There are colours on a
terminal, unless \`--no-color\`, \`NO_COLOR\` or \`TERM=dumb\` says otherwise; \`FORCE_COLOR=1\` brings them into a pipe.`;

/** By the name of the command. */
export const commandNotes: Readonly<Record<string, string>> = {
  up: "How members are simulated is in [simulation.md](../simulation.md), what the flags on eviction mean in [propagation.md](../propagation.md#leaving-a-member-failover-and-eviction).",
  why: "[The guide](../explain.md) has examples.",
  get: "[The guide](../fleet.md#objects-of-all-members) has examples.",
  describe: "[The guide](../fleet.md) has examples.",
  logs: "[The guide](../fleet.md) has examples.",
  exec: "[The guide](../fleet.md) has examples.",
  apply: "[The guide](../fleet.md#apply-with-the-plan-first) has examples.",
  plan: "[The guide](../explain.md#what-if) has examples.",
  adopt:
    "`--dry-run -o yaml` prints what the hub would get. [The guide](../propagation.md#taking-over-what-is-there) has examples.",
  doctor: "Reads only. Exit code 0 without problems, 1 with problems ([guide](../doctor.md)).",
  lint: "Every rule is described in [lint.md](lint.md). Exit code 0 without errors, 1 with errors.",
  token: "[The guide](../agent.md) has examples.",
  register: "With `--image` it prints the objects that run the agent ([guide](../agent.md)).",
  agent:
    "`flotilla agent manifests --image IMAGE …` prints the objects that run the agent on the cluster itself ([guide](../agent.md)).",
  interpret:
    "`-f` takes files, folders (`-R`), patterns, addresses and `-`. [The guide](../interpreter.md#trying-rules-flotilla-interpret) has examples.",
};

export const AFTERWORD = `## The data directory

\`~/.flotilla\` unless \`--data\` or \`$FLOTILLA_HOME\` says otherwise. One process at a time.

| file | is |
|---|---|
| \`hub.kubeconfig\`, \`member1.kubeconfig\`, … | administrators' kubeconfigs, with a bearer token: the hub's opens every cluster, a member's only its own |
| \`flotilla.db\` | all objects (SQLite). \`flotilla snapshot save\` copies it; a file that is damaged or was written by a newer Flotilla is refused and left as it is |
| \`pki/\` | the certificate authority, the serving certificate, an administrator's client certificate (\`admin.pem\`), the tokens of the kubeconfigs, the key that signs service account tokens. Certificates are renewed a month before they end, also while it runs |
| \`flotilla.log\` | what changed and what failed, a line of JSON each; a full file (8 MB) becomes \`.1\`, and the one before \`.2\` |
| \`up.json\` | who runs here: process and address, for a second start to name. Gone after a clean end |

Everything in it is readable by its owner only. The API server listens on 127.0.0.1.`;
