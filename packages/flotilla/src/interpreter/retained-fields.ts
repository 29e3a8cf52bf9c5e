/**
 * Finds the fields of a release that a Retain rule leaves to the member, or sets itself: replicas, partition, pause, strategy and pods. The
 * rule is run on objects that differ in these fields, so that it does not matter how it is written.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject, setOwn } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";

type AnyObject = DeepReadonly<KubernetesObject>;

/** `partition` also means a pause: both limit how many pods a release reaches. */
type ReleaseField = "replicas" | "partition" | "strategy" | "template";

export interface RetainedField {
  readonly field: ReleaseField;
  /** `spec.updateStrategy.partition`, or `spec.updateStrategy` when the whole strategy is kept. */
  readonly path: string;
  /** The rule has a value of its own; otherwise it keeps that of the member. */
  readonly isSet: boolean;
}

interface Probe {
  readonly field: ReleaseField;
  readonly path: readonly string[];
  /** The desired value is the second; the member has the first, then the third. */
  readonly values: readonly [unknown, unknown, unknown];
}

/** Numbers that no rule sets: it would not be found if it set the desired one. */
const COUNTS = [1003, 1005, 1007] as const;
const FLAGS = [true, false, true] as const;
const container = (tag: number): object[] => [{ name: "main", image: `example.com/main:${tag}` }];
/**
 * OpenKruise's kinds and those of apps/v1; a kind without such a field ignores it. Members may pause a whole workload
 * (`spec.paused`) as they like: a rule that keeps this is not a surprise.
 */
const PROBES: readonly Probe[] = [
  { field: "replicas", path: ["spec", "replicas"], values: COUNTS },
  { field: "partition", path: ["spec", "updateStrategy", "partition"], values: COUNTS },
  { field: "partition", path: ["spec", "updateStrategy", "rollingUpdate", "partition"], values: COUNTS },
  { field: "partition", path: ["spec", "updateStrategy", "paused"], values: FLAGS },
  { field: "partition", path: ["spec", "updateStrategy", "rollingUpdate", "paused"], values: FLAGS },
  { field: "strategy", path: ["spec", "updateStrategy", "type"], values: ["OnDelete", "RollingUpdate", "ReCreate"] },
  { field: "strategy", path: ["spec", "updateStrategy", "maxUnavailable"], values: COUNTS },
  { field: "strategy", path: ["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"], values: COUNTS },
  { field: "strategy", path: ["spec", "strategy", "type"], values: ["Recreate", "RollingUpdate", "Recreate"] },
  { field: "strategy", path: ["spec", "strategy", "rollingUpdate", "maxUnavailable"], values: COUNTS },
  {
    field: "template",
    path: ["spec", "template", "spec", "containers"],
    values: [container(1), container(2), container(3)],
  },
];

/** The fields of strategies; a rule that keeps all of them keeps the strategy, and so for one that sets them. */
const STRATEGIES: readonly { field: ReleaseField; path: string }[] = [
  { field: "partition", path: "spec.updateStrategy" },
  { field: "strategy", path: "spec.strategy" },
];

export interface RetainProbe {
  readonly desired: AnyObject;
  readonly observed: AnyObject;
}

/**
 * The objects on which a rule is run. `object` is a template, or an object that stands for its kind. A rule may keep the
 * smaller or the larger value, so the member once has smaller and once larger ones.
 */
export function retainProbes(object: AnyObject): RetainProbe[] {
  const desired = withValues(object, 1);
  return [
    { desired, observed: withValues(object, 0) },
    { desired, observed: withValues(object, 2) },
  ];
}

/** What a rule takes from the hub, from its results for the probes, in their order; undefined where it has none. */
export function retainedFieldsIn(results: readonly (AnyObject | undefined)[]): RetainedField[] {
  const taken = PROBES.flatMap(({ field, path, values }): RetainedField[] => {
    const [smaller, desired, larger] = values;
    const found = results.flatMap((retained, index) => {
      const value = read(retained, path);
      return retained === undefined || equalJson(value, desired) ? [] : [{ value, observed: [smaller, larger][index] }];
    });
    const isSet = found.some(({ value, observed }) => !equalJson(value, observed));
    return found.length === 0 ? [] : [{ field, path: path.join("."), isSet }];
  });
  const isIn = (path: string, strategy: string): boolean => path.startsWith(`${strategy}.`);
  const whole = STRATEGIES.flatMap((strategy) =>
    [false, true].flatMap((isSet): RetainedField[] => {
      const inIt = taken.filter((each) => isIn(each.path, strategy.path) && each.isSet === isSet);
      const all = PROBES.filter(({ path }) => isIn(path.join("."), strategy.path));
      return inIt.length === all.length ? [{ ...strategy, isSet }] : [];
    }),
  );
  return [...taken.filter(({ path }) => !whole.some((strategy) => isIn(path, strategy.path))), ...whole];
}

/** What a rule does with the fields: `leaves a, b to the members` and `sets c`. */
export function renderRetainedFields(retained: readonly RetainedField[]): string {
  const [set, kept] = [true, false].map((which) =>
    retained.filter(({ isSet }) => isSet === which).map(({ path }) => path),
  ) as [string[], string[]];
  return [
    ...(kept.length > 0 ? [`leaves ${kept.join(", ")} to the members`] : []),
    ...(set.length > 0 ? [`sets ${set.join(", ")} on the members itself`] : []),
  ].join(" and ");
}

function withValues(object: AnyObject, index: 0 | 1 | 2): AnyObject {
  let result: JsonObject = object as unknown as JsonObject;
  for (const { path, values } of PROBES) result = write(result, path, values[index]);
  return result as unknown as AnyObject;
}

function read(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function write(object: unknown, [first = "", ...rest]: readonly string[], value: unknown): JsonObject {
  const copy: JsonObject = isObject(object) ? { ...object } : {};
  setOwn(copy, first, rest.length === 0 ? value : write(copy[first], rest, value));
  return copy;
}
