/** `flotilla kubectl`: runs kubectl against the hub, also on machines where it is not on the PATH. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter } from "node:path";
import { defineCommand } from "../command.ts";
import { kubectlRolloutHint } from "../command-hint.ts";
import { kubectlPath, noKubectl } from "../kubectl.ts";
import { checkKubeconfig, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const kubectlCommand = defineCommand({
  name: "kubectl",
  summary: "run kubectl against the hub, with the kubectl of this checkout if there is one",
  details:
    "Everything after 'kubectl' is passed on unchanged. The kubeconfig is $KUBECONFIG, else the one of the " +
    "data directory. Looks for kubectl in $KUBECTL, in the packages of a checkout, and on the PATH.",
  example: [
    { says: "List the members.", run: "flotilla kubectl get clusters" },
    { says: "Query a member.", run: "flotilla kubectl --kubeconfig ~/.flotilla/member1.kubeconfig get pods -A" },
  ],
  args: [{ name: "ARGUMENT", description: "kubectl's own arguments and flags", required: false, repeated: true }],
  flags: {},
  isVerbatim: true,
  async run({ args, environment, output }) {
    const path = kubectlPath(environment);
    if (path === undefined) throw noKubectl();
    const { kubeconfigs } = hubKubeconfig({ kubeconfig: undefined, data: undefined }, environment);
    // Without a kubeconfig, kubectl would look for a server on this machine, also if $KUBECONFIG names missing files.
    if (needsHub(args)) checkKubeconfig({ kubeconfigs });
    const child = spawn(path, args, {
      stdio: "inherit",
      env: { ...environment, KUBECONFIG: kubeconfigs.join(delimiter) },
    });
    // The terminal also sends Ctrl-C to kubectl, whose exit ends this command.
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        const hint = code === 0 ? undefined : kubectlRolloutHint(args);
        if (hint !== undefined) output.warn(hint);
        resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
      });
    });
  },
});

/** kubectl's commands that read no cluster. */
const LOCAL_COMMANDS: ReadonlySet<string> = new Set(["completion", "config", "help", "kustomize", "options", "plugin"]);
/** They name the cluster themselves, or need none. */
const OWN_CLUSTER = /^(--kubeconfig|--server|-s|--help|-h|--client)(=|$)/;

/** Whether kubectl would use the kubeconfig of the environment or the data directory. */
export const needsHub = (args: readonly string[]): boolean =>
  args.length > 0 && !LOCAL_COMMANDS.has(args[0] ?? "") && !args.some((arg) => OWN_CLUSTER.test(arg));
