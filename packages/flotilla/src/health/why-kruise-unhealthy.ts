/**
 * Why an object of OpenKruise that runs no pods of its own is not as it should be: image pulls, restarts of containers,
 * ephemeral containers, copies of Secrets, spreads, records and probes. Their numbers are not those of workloads. Pure.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { conditionsIn, countOf } from "@flotilla/kubernetes";
import type { Unhealthy } from "./unhealthy.ts";

type Observed = DeepReadonly<KubernetesObject>;
type Judge = (spec: JsonObject, status: JsonObject) => Unhealthy | undefined;

/** A run that has ended does not recover. */
const FAILED = "Failed";
const MAX_NAMED = 3;

const JUDGES: Readonly<Record<string, Judge>> = {
  ImagePullJob(spec, status) {
    const failed = countOf(status["failed"]);
    if (failed === 0) return undefined;
    const nodes = namesIn(status["failedNodes"]);
    const total = Math.max(countOf(status["desired"]), failed);
    return {
      reason: FAILED,
      message:
        `the image ${text(spec["image"])} was not pulled on ${failed} of ${total} ` +
        `node${total === 1 ? "" : "s"}${listed(nodes)}${said(status["message"], "job has completed")}`,
    };
  },
  ImageListPullJob(_spec, status) {
    const images = objectsIn(status["failedImageStatuses"]).map(
      ({ name, imagePullJob }) => text(name) || text(imagePullJob),
    );
    if (images.length === 0) return undefined;
    return {
      reason: FAILED,
      message: `${images.length} image${images.length === 1 ? " was" : "s were"} not pulled on all nodes${listed(images)}`,
    };
  },
  ContainerRecreateRequest(_spec, status) {
    const states = objectsIn(status["containerRecreateStates"]);
    const failed = states.filter(({ phase }) => phase === "Failed");
    const phase = text(status["phase"]);
    if (failed.length > 0)
      return {
        reason: FAILED,
        message: `containers were not recreated: ${failed.map(({ name, message }) => `${text(name)}${said(message)}`).join(", ")}`,
      };
    const isDone = phase === "Completed" && states.length > 0 && states.every((each) => each["phase"] === "Succeeded");
    if (phase === "Failed" || (phase === "Completed" && !isDone))
      return { reason: FAILED, message: `its containers were not recreated${said(status["message"])}` };
    // The daemon on the node starts at once.
    return phase === "" || phase === "Pending"
      ? {
          reason: "NotStarted",
          message: "it has not started: it waits for another request for the pod, or for the daemon of OpenKruise",
        }
      : undefined;
  },
  EphemeralJob(_spec, status) {
    const [match, failed, waiting] = ["match", "failed", "waiting"].map((name) => countOf(status[name])) as [
      number,
      number,
      number,
    ];
    const phase = text(status["phase"]);
    const last = conditionsIn(status).at(-1) ?? {};
    if (failed > 0 || phase === "Failed" || phase === "Error")
      return {
        reason: FAILED,
        message: `its containers failed in ${failed} of ${Math.max(match, failed)} pods${said(last["message"])}`,
      };
    return waiting > 0 && phase !== "Paused"
      ? {
          reason: "PodsNotReady",
          message: `its containers have not started in ${waiting} of ${Math.max(match, waiting)} pods: check their image`,
        }
      : undefined;
  },
  ResourceDistribution(_spec, status) {
    const wrong = conditionsIn(status).filter(({ status: value }) => value === "True");
    const failed = countOf(status["failed"]);
    if (wrong.length === 0 && failed === 0) return undefined;
    const causes = wrong.map(
      ({ type, reason, failedNamespace, failedNamespaces }) =>
        `${text(type)}${said(reason)}${listed(namesIn(failedNamespace ?? failedNamespaces))}`,
    );
    return {
      reason: "NotDistributed",
      message: `${failed} of ${Math.max(countOf(status["desired"]), failed)} namespaces have no copy: ${causes.join("; ") || "no cause is reported"}`,
    };
  },
  WorkloadSpread(_spec, status) {
    const full = objectsIn(status["subsetStatuses"]).flatMap((subset) => {
      const schedulable = conditionsIn(subset).find(({ type }) => type === "Schedulable");
      return schedulable?.["status"] === "False"
        ? [`${text(subset["name"])}${said(schedulable["reason"])}${said(schedulable["message"])}`]
        : [];
    });
    const count = objectsIn(status["subsetStatuses"]).length;
    return count > 0 && full.length === count
      ? { reason: "NoSubset", message: `pods fit into none of its ${count} subsets: ${full.join("; ")}` }
      : undefined;
  },
};
/** Their controllers only report that they have seen the object. */
const SEEN_ONLY: ReadonlySet<string> = new Set(["PersistentPodState", "PodProbeMarker"]);

export function isKruiseHelper({ apiVersion, kind }: Pick<Observed, "apiVersion" | "kind">): boolean {
  return parseApiVersion(apiVersion).group === "apps.kruise.io" && (Object.hasOwn(JUDGES, kind) || SEEN_ONLY.has(kind));
}

/** `health` is the verdict of the kind's health rule. */
export function whyKruiseUnhealthy(object: Observed, health: string | undefined): Unhealthy | undefined {
  const part = (name: "spec" | "status"): JsonObject => {
    const value = (object as unknown as Readonly<Record<string, unknown>>)[name];
    return isObject(value) ? value : {};
  };
  const status = part("status");
  const found = JUDGES[object.kind]?.(part("spec"), status);
  if (found || health !== "Unhealthy") return found;
  return {
    reason: "NotObserved",
    message:
      "its controller on the member has not observed it: OpenKruise's manager there does not run, or its gate for the kind is off",
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value.replaceAll(/\s+/g, " ").trim() : "");

function said(value: unknown, except?: string): string {
  const words = text(value);
  return words === "" || words === except ? "" : `: ${words}`;
}

const objectsIn = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === "string") : [];

/** ` (n1, n2, n3 and 4 more)` */
function listed(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return ` (${names.slice(0, MAX_NAMED).join(", ")}${more})`;
}
