/** Checks that the hub responds, is ready, and has the version of this program. */
import { capitalised, messageOf } from "@flotilla/base";
import { controllersProblem, readControllers } from "../../health/controllers-state.ts";
import type { ControllersState } from "../../health/controllers-state.ts";
import { explainHubCheck, failedChecksOf, HUB_CHECKS_PATH } from "../../hub-checks.ts";
import { startCommandOf } from "../../data-directory.ts";
import { KUBERNETES_VERSION } from "../../version.ts";
import { defineCheck } from "../doctor-check.ts";
import { isHere } from "../context.ts";
import type { DoctorContext } from "../context.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { samplesOf } from "../../health/metrics-samples.ts";
import { askRaw, objectOf } from "../raw-answers.ts";

export interface HubFacts {
  server: string;
  /** Why it did not respond. */
  unreachable?: string;
  /** The command that starts it, if its data directory is on this machine. */
  startCommand?: string;
  version: string;
  tookMs: number;
  /** The hub's own readiness checks that fail. */
  failing: readonly string[];
  controllers?: ControllersState;
  /** How much of its quota the store uses; undefined where it has none, or it could not be read. */
  store?: { usedBytes: number; quotaBytes: number } | undefined;
}

/** A hub on the same continent answers a small request well within this. */
const SLOW_MS = 2_000;

export const hubCheck = defineCheck<HubFacts>({
  name: "hub",
  summary: "the hub responds, is ready, and matches the version of this program",
  reports:
    "A problem when one of the hub's own checks (`/readyz`) fails: its controllers are stuck, its disk is " +
    "full, its store is above or near its quota, or it is stopping. A problem when the controllers run in " +
    "processes of their own and a group of them, or a shard of its members, has no process that renews its " +
    "Lease in `karmada-system` (`flotilla-controllers`, `flotilla-controllers-membership`, …), or none " +
    "ever ran: then nothing is propagated, and every status is old. A warning when it serves a Kubernetes " +
    "version other than the one this program was built for, or takes longer than two seconds. When it does " +
    "not respond at all, nothing else can be checked.",
  async gather(context) {
    const version = await askRaw(context, "/version").catch((error: unknown) => {
      context.signal.throwIfAborted();
      return messageOf(error);
    });
    if (typeof version === "string")
      return {
        server: context.server,
        version: "",
        tookMs: 0,
        failing: [],
        unreachable: version,
        startCommand: isHere(context.server) ? await startCommandIn(context) : undefined,
      };
    const ready = await askRaw(context, HUB_CHECKS_PATH, "text/plain");
    const failing = failedChecksOf(ready.text);
    const controllers = await readControllers(context);
    const { gitVersion } = objectOf("querying the hub for its version", version);
    return {
      server: context.server,
      version: typeof gitVersion === "string" ? gitVersion : "",
      tookMs: version.tookMs,
      failing: ready.status === 200 || failing.length > 0 ? failing : [`/readyz returned ${ready.status}`],
      controllers,
      store: storeOf(await askRaw(context, "/metrics", "text/plain")),
    };
  },
  judge({ version, tookMs, failing, server, unreachable, startCommand, controllers, store }) {
    const findings: DoctorFinding[] = [];
    if (unreachable !== undefined)
      return {
        seen: "it does not respond",
        findings: [
          {
            severity: "problem",
            about: `hub ${server}`,
            seen: unreachable,
            fix: "Start it, or specify the kubeconfig of a running hub.",
            commands: [...(startCommand === undefined ? [] : [startCommand]), "flotilla doctor --kubeconfig FILE"],
          },
        ],
      };
    if (failing.length > 0)
      findings.push({
        severity: "problem",
        about: `hub ${server}`,
        seen: failing.map((name) => `${name}: ${explainHubCheck(name)}`).join("; "),
        fix: failing.includes("store-writes")
          ? "Free some space on its disk; the hub then recovers by itself."
          : failing.includes("store-quota")
            ? "Delete objects, or raise the quota."
            : "Check its log for the reason; a hub that is stopping must be started again.",
        commands: ["flotilla doctor --only data", "flotilla up --log-level info"],
      });
    const missing = controllers && controllersProblem(controllers);
    if (missing)
      findings.push({
        severity: "problem",
        about: `hub ${server}`,
        seen: `${capitalised(missing.what)}.`,
        fix: "Start the controllers, with the kubeconfig in the data directory of the API server. If their process runs, check its log.",
        commands: ["flotilla controllers --kubeconfig DIR/controllers.kubeconfig"],
      });
    const [own, hub] = [minorOf(KUBERNETES_VERSION), minorOf(version)];
    if (hub !== undefined && own !== hub)
      findings.push({
        severity: "warning",
        about: `hub ${server}`,
        seen: `It serves Kubernetes ${version}; this program was built for ${KUBERNETES_VERSION}.`,
        fix: "Use the flotilla of the hub's version.",
        commands: ["flotilla version"],
      });
    if (tookMs > SLOW_MS)
      findings.push({
        severity: "warning",
        about: `hub ${server}`,
        seen: `It took ${Math.round(tookMs / 100) / 10} s to return its version.`,
        fix: "Check the load of its machine, and the network between.",
        commands: ["kubectl get --raw /metrics"],
      });
    return {
      seen:
        `${version || "unknown version"}, responded in ${Math.round(tookMs)} ` +
        `ms${store ? `, store ${mib(store.usedBytes)} of ${mib(store.quotaBytes)} MiB` : ""}`,
      findings,
      unseen: controllers?.state === "unknown" ? ["whether controllers run: you are not allowed to list leases"] : [],
    };
  },
});

async function startCommandIn({ data, server, localEnvironment }: DoctorContext): Promise<string> {
  if (data === undefined) return "flotilla up --data DIR";
  const port = Number(new URL(server).port || 443);
  return startCommandOf(data, (await localEnvironment.lastStart(data)) ?? { command: "up", port });
}

/** Users who may not read metrics do not see it. */
function storeOf({ status, text }: { status: number; text: string }): HubFacts["store"] {
  if (status !== 200) return undefined;
  const usedBytes = samplesOf(text, "flotilla_store_value_bytes")[0]?.value;
  const quotaBytes = samplesOf(text, "flotilla_store_quota_bytes")[0]?.value;
  return usedBytes === undefined || quotaBytes === undefined ? undefined : { usedBytes, quotaBytes };
}

const mib = (bytes: number): number => Math.ceil(bytes / 2 ** 20);

const minorOf = (version: string): string | undefined => /^v?(\d+\.\d+)/.exec(version)?.[1];
