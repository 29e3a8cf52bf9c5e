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
  "use 'flotilla kubectl rollout' for Deployments, StatefulSets and DaemonSets, the partition of a CloneSet for its release, and 'flotilla wait' to wait for one";
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
  rollout: RELEASES,
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
