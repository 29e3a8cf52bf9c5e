/**
 * What an autoscaler of the fleet reads of one member: the pods of its target, and their metrics. One list of pods and
 * one request per metric and evaluation; nothing is watched for it. A member that does not answer in time is reported
 * with the reason, and does not delay the others.
 */
import {
  formatLabelSelector,
  labelSelectorOf,
  parseApiVersion,
  tryParseQuantity,
  quantityMilliValue,
} from "@flotilla/apimachinery";
import { FlotillaError, isObject, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { createKindResolver, readJson, readText } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Pod } from "@flotilla/kubernetes";
import type { PodUsage, ReadonlyPod } from "@flotilla/kubernetes";
import type { FederatedHpa } from "@flotilla/karmada";
import type { Member } from "../membership/member.ts";
import type { AutoscalingMeter } from "./autoscaling-meter.ts";

type Metric = DeepReadonly<NonNullable<FederatedHpa["spec"]["metrics"]>[number]>;
/** A metric of pods, of another object, or of something outside of the cluster. */
type MetricName = NonNullable<Metric["pods"]>["metric"];
type ObjectMetric = NonNullable<Metric["object"]>;

export interface MemberFigures {
  cluster: string;
  /** The replicas that the member should run. */
  replicas: number;
  /** Unset if they could not be read. */
  pods?: readonly ReadonlyPod[];
  /** The usage of pods by name; unset if the member has no resource metrics. */
  usage?: ReadonlyMap<string, PodUsage>;
  /** Custom metrics of pods in thousandths, by `metricId` and the name of the pod. */
  podValues: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Metrics of objects and external ones in thousandths, by `metricId`. */
  values: ReadonlyMap<string, number>;
  /** What could not be read, with the reason. */
  problems: readonly string[];
}

export interface FigureRequest {
  namespace: string;
  /** Selects the pods of the target. */
  selector: string;
  metrics: readonly Metric[];
  meter?: Pick<AutoscalingMeter, "nowMs" | "metricsPulled"> | undefined;
}

/** A healthy member answers in a fraction of this; the next evaluation is 15 s later. */
const TIMEOUT_MS = 5_000;
const CUSTOM_METRICS = "/apis/custom.metrics.k8s.io/v1beta2";
const EXTERNAL_METRICS = "/apis/external.metrics.k8s.io/v1beta1";
/** Metrics of 10,000 pods. */
const MAX_BYTES = 8 * 2 ** 20;

/** Identifies a metric of a FederatedHPA among its metrics. */
export const metricId = (metric: MetricName, about?: ObjectMetric["describedObject"]): string =>
  JSON.stringify([metric.name, metric.selector, about?.apiVersion, about?.kind, about?.name]);

export async function readFigures(
  { name, client }: Pick<Member, "name" | "client">,
  replicas: number,
  request: FigureRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<MemberFigures> {
  const timeout = new AbortController();
  const timer = clock.after(TIMEOUT_MS, () =>
    timeout.abort(new FlotillaError("MemberMetrics", `it did not answer within ${TIMEOUT_MS / 1000} s`)),
  );
  const reader = createReader(client, name, request, AbortSignal.any([signal, timeout.signal]));
  try {
    return { cluster: name, replicas, ...(await reader()) };
  } finally {
    timer.cancel();
  }
}

type Read = Omit<MemberFigures, "cluster" | "replicas">;

function createReader(
  client: Client,
  cluster: string,
  { namespace, selector, metrics, meter }: FigureRequest,
  signal: AbortSignal,
): () => Promise<Read> {
  const problems: string[] = [];
  const podValues = new Map<string, ReadonlyMap<string, number>>();
  const values = new Map<string, number>();

  /** Undefined, with the reason among the problems, if it cannot be read. `types`: the metrics that it is read for. */
  async function attempt<T>(what: string, types: readonly string[], read: () => Promise<T>): Promise<T | undefined> {
    const startMs = meter?.nowMs() ?? 0;
    const note = (isFine: boolean): void => {
      for (const type of types) meter?.metricsPulled(type, meter.nowMs() - startMs, isFine);
    };
    try {
      const found = await read();
      note(true);
      return found;
    } catch (error) {
      note(false);
      // An edge: the plan and the condition of the autoscaler report what is missing.
      const reason = signal.aborted ? messageOf(signal.reason) : messageOf(error);
      problems.push(`${what}: ${reason}`);
      return undefined;
    }
  }

  async function get(path: string, query: Record<string, string> = {}): Promise<JsonObject[]> {
    const search = new URLSearchParams(query).toString();
    const { status, body } = await client.raw(
      { method: "GET", cluster, path: search ? `${path}?${search}` : path, headers: { accept: "application/json" } },
      signal,
    );
    if (status !== 200) {
      await readText(body);
      throw new FlotillaError("MemberMetrics", `it answered ${status}`);
    }
    return itemsIn(await readJson(body, MAX_BYTES));
  }

  async function resourceUsage(): Promise<ReadonlyMap<string, PodUsage>> {
    const items = await get(`/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`, { labelSelector: selector });
    return new Map(items.map((item) => [nameIn(item["metadata"]), usageIn(item)]));
  }

  async function readMetric({ type, pods, object, external }: Metric): Promise<void> {
    if (type === "Pods" && pods) {
      const path = `${CUSTOM_METRICS}/namespaces/${namespace}/pods/*/${encodeURIComponent(pods.metric.name)}`;
      const items = await attempt(`metric ${pods.metric.name} of its pods`, [type], () =>
        get(path, { labelSelector: selector, ...metricSelector(pods.metric, "metricLabelSelector") }),
      );
      const found = items?.map((item): [string, number] => [nameIn(item["describedObject"]), milliIn(item)]);
      if (found) podValues.set(metricId(pods.metric), new Map(found));
    } else if (type === "Object" && object) {
      const { kind, name } = object.describedObject;
      const items = await attempt(`metric ${object.metric.name} of ${kind} ${name}`, [type], async () =>
        get(
          `${CUSTOM_METRICS}/namespaces/${namespace}/${await resourceOf(object.describedObject)}/` +
            `${encodeURIComponent(name)}/${encodeURIComponent(object.metric.name)}`,
          metricSelector(object.metric, "metricLabelSelector"),
        ),
      );
      if (items) values.set(metricId(object.metric, object.describedObject), sumOf(items));
    } else if (type === "External" && external) {
      const { metric } = external;
      const items = await attempt(`external metric ${metric.name}`, [type], () =>
        get(
          `${EXTERNAL_METRICS}/namespaces/${namespace}/${encodeURIComponent(metric.name)}`,
          metricSelector(metric, "labelSelector"),
        ),
      );
      if (items) values.set(metricId(metric), sumOf(items));
    }
  }

  /** `deployments.apps`, as the API of custom metrics names resources. */
  async function resourceOf({ apiVersion = "v1", kind }: ObjectMetric["describedObject"]): Promise<string> {
    const { plural } = await createKindResolver({ client, cluster }).resolve({ apiVersion, kind });
    const { group } = parseApiVersion(apiVersion);
    return group === "" ? plural : `${plural}.${group}`;
  }

  return async () => {
    const usageTypes = new Set(
      metrics.flatMap(({ type }) => (type === "Resource" || type === "ContainerResource" ? [type] : [])),
    );
    const [pods, usage] = await Promise.all([
      attempt(
        "pods",
        [],
        async () => (await client.list(Pod, { cluster, namespace, labelSelector: selector, signal })).items,
      ),
      usageTypes.size > 0 ? attempt("metrics.k8s.io", [...usageTypes], resourceUsage) : undefined,
      ...metrics.map((metric) => readMetric(metric)),
    ]);
    return { pods, usage, podValues, values, problems };
  };
}

const metricSelector = ({ selector }: MetricName, parameter: string): Record<string, string> =>
  selector ? { [parameter]: formatLabelSelector(labelSelectorOf(selector)) } : {};

const itemsIn = (answer: Json): JsonObject[] =>
  isObject(answer) && Array.isArray(answer["items"]) ? answer["items"].filter(isObject) : [];

function nameIn(reference: Json | undefined): string {
  const name = isObject(reference) ? reference["name"] : undefined;
  return typeof name === "string" ? name : "";
}

const milliIn = ({ value }: JsonObject): number => milliOf(value);
const sumOf = (items: readonly JsonObject[]): number => items.reduce((sum, item) => sum + milliIn(item), 0);

/** A value that cannot be parsed counts as 0, as an absent one does. */
function milliOf(value: Json | undefined): number {
  const quantity = typeof value === "string" || typeof value === "number" ? tryParseQuantity(value) : undefined;
  return quantity ? Number(quantityMilliValue(quantity)) : 0;
}

function usageIn({ containers }: JsonObject): PodUsage {
  const used = (Array.isArray(containers) ? containers : []).filter(isObject).map(({ name, usage }) => ({
    name: typeof name === "string" ? name : "",
    cpu: isObject(usage) ? milliOf(usage["cpu"]) : 0,
    memory: isObject(usage) ? milliOf(usage["memory"]) / 1000 : 0,
  }));
  return {
    cpu: used.reduce((sum, { cpu }) => sum + cpu, 0),
    memory: used.reduce((sum, { memory }) => sum + memory, 0),
    containers: used,
  };
}
