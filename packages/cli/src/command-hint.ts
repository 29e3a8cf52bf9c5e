/** What to use instead of a command that kubectl, karmadactl or clusteradm has and Flotilla does not. Pure. */

/** Commands of kubectl that work on the hub's objects. */
const ON_THE_HUB = [
  "annotate",
  "api-resources",
  "api-versions",
  "auth",
  "autoscale",
  "certificate",
  "cluster-info",
  "config",
  "create",
  "events",
  "explain",
  "expose",
  "kustomize",
  "label",
  "patch",
  "proxy",
  "replace",
  "run",
  "scale",
  "set",
];

/** Commands of kubectl that work on one pod, and pods run on members. */
const ON_A_MEMBER = ["attach", "cp", "debug", "port-forward"];

const RELEASES =
  "use 'flotilla rollout' for releases in waves, 'flotilla kubectl rollout' for Deployments, StatefulSets " +
  "and DaemonSets, the partition of a CloneSet for its release, and 'flotilla wait' to wait for one";
const STARTS = "use 'flotilla up' to start a hub; 'flotilla apiserver' and 'flotilla controllers' start its parts";
const STOPS = "stop the hub with Ctrl-C and delete its data directory; 'flotilla unjoin' removes a member before";
const ADDONS = "Flotilla installs no add-ons";

const HINTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ON_THE_HUB.map((word) => [word, `use 'flotilla kubectl ${word}'`])),
  ...Object.fromEntries(
    ON_A_MEMBER.map((word) => [
      word,
      `use 'flotilla kubectl --kubeconfig MEMBER.kubeconfig ${word}' with the member's kubeconfig`,
    ]),
  ),
  rollback: RELEASES,
  undo: RELEASES,
  restart: RELEASES,
  pause: RELEASES,
  resume: RELEASES,
  diff: "use 'flotilla plan' to see what would change on the hub and on each member",
  dryrun: "use 'flotilla plan' to see what would change on the hub and on each member",
  options: "run 'flotilla help COMMAND' to list the flags of a command",
  plugin: "kubectl runs Flotilla as its plugin: 'kubectl flotilla COMMAND'",
  // Of karmadactl.
  promote: "use 'flotilla adopt' to bring an object of a member under hub management",
  migrate: "use 'flotilla adopt' to bring an object of a member under hub management",
  unregister: "use 'flotilla unjoin' to remove a member",
  init: STARTS,
  install: STARTS,
  deinit: STOPS,
  clean: STOPS,
  uninstall: STOPS,
  addons: ADDONS,
  addon: ADDONS,
  upgrade:
    "install the new version and start the hub on the same data directory; 'flotilla snapshot save' saves it before",
  clusterset: "use 'flotilla kubectl' with ManagedClusterSets and ManagedClusterSetBindings",
  clusters: "use 'flotilla status' to list the members",
  members: "use 'flotilla status' to list the members",
  nodes: "use 'flotilla get nodes' to list the nodes of all members",
};

/** The end of a sentence; empty for other words. */
export function commandHint(word: string): string {
  const hint = Object.hasOwn(HINTS, word) ? HINTS[word] : undefined;
  return hint === undefined ? "" : `; ${hint}`;
}

/** OpenKruise's workloads, which kubectl's rollout does not know, as users write them: `cloneset`, `sts.apps.kruise.io`. */
const OF_KRUISE = /^(clonesets?|clone|[a-z]+\.(v\d\w*\.)?apps\.kruise\.io)$/i;

/** What to use instead of `kubectl rollout` of such a workload; undefined for other arguments. */
export function kubectlRolloutHint(args: readonly string[]): string | undefined {
  const words = args.filter((arg) => !arg.startsWith("-"));
  const at = words.indexOf("rollout");
  const [verb = "", ...rest] = words.slice(at + 1);
  const type = rest.map((word) => word.split("/")[0] ?? "").find((word) => OF_KRUISE.test(word));
  if (at < 0 || type === undefined) return undefined;
  const instead: Readonly<Record<string, string>> = {
    status: "'flotilla wait TYPE/NAME' waits for it, 'flotilla rollout status' shows a release in waves",
    history: "'flotilla rollout history TYPE/NAME' lists releases in waves",
    undo: "'flotilla rollout undo TYPE/NAME' returns a release in waves; a raised partition rolls pods back",
    pause: "'flotilla rollout pause TYPE/NAME' stops a release in waves; spec.updateStrategy has 'paused' for others",
    resume:
      "'flotilla rollout resume TYPE/NAME' continues a release in waves; remove 'paused' from spec.updateStrategy for others",
    restart:
      "change an annotation of spec.template: 'kubectl patch' does it, and the release follows the strategy or the partition",
  };
  return `kubectl rollout does not know OpenKruise's workloads: ${instead[verb] ?? "'flotilla rollout' follows and steers releases in waves"}`;
}
