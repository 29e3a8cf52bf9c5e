/** Compares the state observed after a step with its recording, and describes the differences. */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { equalGolden } from "../../compare-results.ts";
import { comparedKruiseText } from "../../message-dumps.ts";
import type { Observation } from "./observe.ts";
import type { During, Outcome, Result } from "./scenario.ts";

const TOPOLOGY_LABELS = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

export function differenceInState(got: Observation, want: Outcome): string | undefined {
  const [observed, recorded] = [
    withoutTemplateHashes(got),
    withoutTemplateHashes({ objects: want.objects ?? [], pods: want.pods ?? [] }),
  ];
  return differenceInObjects(observed.objects, recorded.objects) ?? differenceInPods(observed.pods, recorded.pods);
}

/**
 * The hash in the name of a ReplicaSet, and of a DaemonSet's revision, depends on how Go prints a template, and differs
 * in every Kubernetes release; clients use the label.
 */
function withoutTemplateHashes(state: Observation): Observation {
  const hashes = state.objects.map(templateHashOf).filter((hash) => hash !== undefined);
  return hashes.reduce(
    (rest, hash) => JSON.parse(JSON.stringify(rest).replaceAll(hash, "{{hash}}")) as Observation,
    state,
  );
}

function templateHashOf({ kind, owner, labels }: JsonObject): string | undefined {
  const label =
    kind === "ReplicaSet"
      ? "pod-template-hash"
      : typeof owner === "string" && owner.includes("/DaemonSet/")
        ? "controller-revision-hash"
        : undefined;
  const hash = label !== undefined && isObject(labels) ? labels[label] : undefined;
  return typeof hash === "string" ? hash : undefined;
}

function differenceInObjects(got: readonly JsonObject[], want: readonly JsonObject[]): string | undefined {
  const left = [...got];
  const missing: JsonObject[] = [];
  for (const wanted of want) {
    const index = left.findIndex((object) => equalObject(object, wanted));
    if (index === -1) missing.push(wanted);
    else left.splice(index, 1);
  }
  if (missing.length === 0 && left.length === 0) return undefined;
  const other = missing.map((wanted) => {
    const near =
      left.find((object) => object["kind"] === wanted["kind"] && object["name"] === wanted["name"]) ??
      left.find((object) => object["kind"] === wanted["kind"]);
    return near
      ? `${nameOf(wanted)} ${pathsOf(near, withVersion(wanted, near)).join("; ")}`
      : `${nameOf(wanted)} is missing`;
  });
  return other.length > 0 ? other.join(" | ") : left.map((object) => `${nameOf(object)} should not exist`).join(" | ");
}

const nameText = ({ name }: JsonObject): string => (typeof name === "string" ? name : "");
const nameOf = (object: JsonObject): string =>
  `${typeof object["kind"] === "string" ? object["kind"] : ""}/${nameText(object)}`;
/** Revisions of cluster-scoped kinds were recorded without their version. */
const withVersion = (want: JsonObject, got: JsonObject): JsonObject => ({
  ...want,
  apiVersion: want["apiVersion"] ?? got["apiVersion"] ?? null,
});
const equalObject = (got: JsonObject, want: JsonObject): boolean => equalGolden(got, withVersion(want, got));

/** Each recorded group has a count; a pod belongs to the first group that it equals. */
function differenceInPods(got: readonly JsonObject[], want: readonly JsonObject[]): string | undefined {
  const left = [...got];
  const missing: string[] = [];
  for (const { count, ...group } of want) {
    for (let n = 0; n < Number(count); n++) {
      const index = left.findIndex((pod) => equalGolden(asRecorded(pod, group), group));
      if (index === -1) missing.push(explainPod(group, left));
      else left.splice(index, 1);
    }
  }
  if (missing.length > 0) return missing.join(" | ");
  return left.length > 0 ? left.map((pod) => `Pod/${nameText(pod)} should not exist`).join(" | ") : undefined;
}

function explainPod(group: JsonObject, left: readonly JsonObject[]): string {
  const differences = left.map((pod) => pathsOf(asRecorded(pod, group), group)).toSorted((a, b) => a.length - b.length);
  return `Pod/${nameText(group)} ${differences[0]?.join("; ") ?? "is missing"}`;
}

/** The recordings name the node only where it matters, and likewise its labels. */
function asRecorded({ node, labels, ...pod }: JsonObject, group: JsonObject): JsonObject {
  if (group["node"] !== undefined) return { ...pod, labels: labels ?? null, node: node ?? null };
  const kept = isObject(labels)
    ? Object.fromEntries(Object.entries(labels).filter(([key]) => !TOPOLOGY_LABELS.includes(key)))
    : null;
  return { ...pod, labels: kept, scheduled: node === null ? (group["scheduled"] === false ? false : null) : true };
}

/** `status.replicas: got 3, want 2` for every leaf that differs. */
function pathsOf(got: Json | undefined, want: Json | undefined, path = ""): string[] {
  if (equalGolden(got, want)) return [];
  if (isObject(got) && isObject(want))
    return Object.keys({ ...got, ...want }).flatMap((key) =>
      pathsOf(got[key], want[key], path === "" ? key : `${path}.${key}`),
    );
  if (Array.isArray(got) && Array.isArray(want) && got.length === want.length)
    return got.flatMap((item, index) => pathsOf(item, want[index], `${path}[${index}]`));
  return [`${path}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`];
}

/** Responses are compared if one of them was a failure. */
export function differenceInResults(got: readonly Result[], want: readonly Result[] | undefined): string | undefined {
  for (const [index, result] of got.entries()) {
    const expected = want?.[index];
    const isSame = expected
      ? result.code === expected.code &&
        (expected.reason === undefined || expected.reason === result.reason) &&
        equalMessage(result.message ?? "", expected.message)
      : result.code < 300;
    if (!isSame) return `call ${index}: got ${JSON.stringify(result)}, want ${JSON.stringify(expected ?? "success")}`;
  }
  return undefined;
}

/** Rejected values are not compared. Where the original printed a memory address, the field and the reason are compared, not the printed value. */
function equalMessage(got: string, want: string | undefined): boolean {
  if (want === undefined || got === want || comparedKruiseText(got) === comparedKruiseText(want)) return true;
  if (!want.includes("{{PTR}}")) return false;
  const pattern = want.split("{{PTR}}").map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  if (new RegExp(`^${pattern.join(".+?")}$`).test(got)) return true;
  const [field = ""] = want.split("Invalid value: ", 1);
  return got.startsWith(field) && got.split(": ").at(-1) === want.split(": ").at(-1);
}

/** Events without repetitions; some occurred only in some of the recordings. */
export function differenceInEvents(
  got: readonly string[],
  want: readonly string[] = [],
  sometimes: readonly string[] = [],
): string | undefined {
  const missing = want.filter((event) => !got.includes(event));
  const extra = [...new Set(got)].filter((event) => !want.includes(event) && !sometimes.includes(event));
  if (missing.length + extra.length === 0) return undefined;
  return [
    ...missing.map((event) => `the event "${event}" is missing`),
    ...extra.map((event) => `the event "${event}" should not exist`),
  ].join("; ");
}

/**
 * The recorded extremes are bounds: ours may be less disruptive. Some recordings show a pod that was briefly not ready
 * for no reason a controller could have. The number of concurrently running pods is meaningless if they end at once.
 */
export function differenceInExtremes(got: During, want: During | undefined, endsAtOnce: boolean): string | undefined {
  if (!want || (got.minReady >= want.minReady && (endsAtOnce || got.maxPods <= want.maxPods))) return undefined;
  return `during: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`;
}

/**
 * Changes whose position varied between recordings were omitted; so were blips: unready, ready, and nothing in between.
 */
export function differenceInOrder(got: readonly string[], want: readonly string[] | undefined): string | undefined {
  if (!want) return undefined;
  const expected = withoutBlinks(want);
  const verbs = new Set(expected.map(verbOf));
  const seen = withoutBlinks(got).filter((change) => verbs.has(verbOf(change)));
  return equalGolden(seen, expected)
    ? undefined
    : `order: got ${JSON.stringify(seen)}, want ${JSON.stringify(expected)}`;
}

const verbOf = (change: string): string => change.split(" ", 1)[0] ?? "";

function withoutBlinks(order: readonly string[]): string[] {
  const kept: string[] = [];
  for (const change of order) {
    if (verbOf(change) === "ready" && kept.at(-1) === `un${change}`) kept.pop();
    else kept.push(change);
  }
  return kept;
}
