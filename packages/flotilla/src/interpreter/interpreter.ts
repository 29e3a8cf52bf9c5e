/**
 * Finds the rules for an object's kind and applies them, or the defaults for every kind. Kinds are matched by group and
 * kind, regardless of version: members of different Kubernetes releases serve different versions of the same kind.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject, messageOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { summingNewest } from "@flotilla/openkruise";
import {
  createLevel,
  InterpretError,
  LEVEL_ORDER,
  nativeKinds,
  pickFields,
  TEMPLATE_GENERATION,
} from "@flotilla/kubernetes";
import type {
  Awaitable,
  ChangedKind,
  Component,
  ConditionSums,
  Dependency,
  KindInterpreter,
  KindRules,
  Level,
  LevelName,
  Replicas,
  Rule,
  Share,
  StatusItem,
} from "@flotilla/kubernetes";
import { retainedFieldsIn, retainProbes } from "./retained-fields.ts";
import type { RetainedField } from "./retained-fields.ts";
import { createDivisionLimits } from "./division-limits.ts";
import { thirdPartyKinds } from "./thirdparty/index.ts";

export type AnyObject = DeepReadonly<KubernetesObject>;
type Health = NonNullable<StatusItem["health"]>;

/**
 * Rules run in this process or over the network, so every call is asynchronous. A rule that fails throws
 * `InterpretError`.
 */
export interface Interpreter {
  /** Undefined for kinds without replicas. */
  replicas(object: AnyObject): Promise<Replicas | undefined>;
  components(object: AnyObject): Promise<Component[]>;
  /** Returns the object itself when its kind has no replicas. */
  reviseReplicas(object: AnyObject, replicas: number): Promise<AnyObject>;
  /** One copy per staying share, keyed by cluster. An object without replicas is the same everywhere. */
  divide(object: AnyObject, shares: readonly Share[]): Promise<ReadonlyMap<string, AnyObject>>;
  /** What the kind's own rules make of it, if a user's ReviseReplica takes their place; undefined otherwise. */
  replacedDivision(object: AnyObject, shares: readonly Share[]): Promise<ReadonlyMap<string, AnyObject> | undefined>;
  /** The replicas that the kind's own rule counts, if a user's GetReplicas takes its place; undefined otherwise. */
  replacedReplicas(object: AnyObject): Promise<number | undefined>;
  retain(desired: AnyObject, observed: AnyObject): Promise<AnyObject>;
  reflectStatus(object: AnyObject): Promise<Json | undefined>;
  /**
   * The generations that the kind's own rule reports, if a user's ReflectStatus takes its place and the kind's own rule
   * aggregates: that rule compares them, and users' rules seldom report them. Empty otherwise.
   */
  replacedGenerations(object: AnyObject): Promise<JsonObject>;
  /** Undefined when there is no rule to aggregate this kind's status. */
  aggregateStatus(object: AnyObject, items: readonly StatusItem[]): Promise<AnyObject | undefined>;
  /**
   * How conditions are added to what the rule returns. Undefined for kinds without such conditions, and when a user's
   * rule is responsible for the operation.
   */
  conditionSums(
    rule: "reflectStatus" | "aggregateStatus",
    object: Pick<AnyObject, "apiVersion" | "kind">,
  ): ConditionSums | undefined;
  health(object: AnyObject): Promise<Health>;
  dependencies(object: AnyObject): Promise<Dependency[]>;
  /** The level whose rule implements an operation for this kind; undefined when the default applies. */
  levelOf(rule: Rule, object: Pick<AnyObject, "apiVersion" | "kind">): LevelName | undefined;
  /** The user's object that has the rule; undefined when no user's rule implements the operation for this kind. */
  ownerOf(rule: Rule, object: Pick<AnyObject, "apiVersion" | "kind">): string | undefined;
  /** The fields of a release that a user's Retain rule leaves to the member, found by running the rule. */
  retainedFields(template: AnyObject): Promise<readonly RetainedField[]>;
  /** Notified of kinds whose rules changed. */
  onChange(listener: (changed: ChangedKind) => void): void;
}

/** The fields of a report from which the rules of kinds decide whether it is about the newest template. */
const GENERATIONS = ["generation", "observedGeneration", "resourceTemplateGeneration"];

type Rest<R extends Rule> = Parameters<NonNullable<KindRules[R]>> extends [unknown, ...infer More] ? More : never;
type Answer<R extends Rule> = Awaited<ReturnType<NonNullable<KindRules[R]>>>;

/** The kinds with built-in rules. */
// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const knownKinds: readonly KindInterpreter<any>[] = [...thirdPartyKinds, ...nativeKinds];

export const knownLevels: readonly Level[] = [
  createLevel("thirdparty", thirdPartyKinds.map(summingNewest)),
  createLevel("native", nativeKinds),
];

/** Levels are asked in their fixed order, regardless of the order of `given`. */
export function createInterpreter(given: readonly Level[] = knownLevels): Interpreter {
  const levels = given.toSorted((a, b) => LEVEL_ORDER.indexOf(a.name) - LEVEL_ORDER.indexOf(b.name));

  const rulesOf = (
    { apiVersion, kind }: Pick<AnyObject, "apiVersion" | "kind">,
    has: (rules: KindRules) => unknown,
  ): KindRules | undefined => {
    for (const level of levels) {
      const rules = level.rulesFor(apiVersion, kind);
      if (rules && has(rules)) return rules;
    }
    return undefined;
  };

  /** The result of the first level that has the rule. */
  async function ask<R extends Rule>(rule: R, object: AnyObject, ...rest: Rest<R>): Promise<Answer<R> | undefined> {
    const rules = rulesOf(object, (found) => found[rule]);
    if (!rules) return undefined;
    // The types of a rule are those of `KindInterpreter`; the compiler does not infer them through the index.
    const carryOut = rules[rule] as unknown as (object: AnyObject, ...rest: Rest<R>) => Awaitable<Answer<R>>;
    return explained(rule, object, () => carryOut.call(rules, object, ...rest));
  }

  async function replacedGenerations(object: AnyObject): Promise<JsonObject> {
    const { apiVersion, kind, metadata } = object;
    const isUsers = (rule: Rule): boolean => ownerOf(rule, object) !== undefined;
    // A Work that dispatch did not write has no template.
    const isCopy = metadata.annotations?.[TEMPLATE_GENERATION] !== undefined;
    if (!isCopy || !isUsers("reflectStatus") || isUsers("aggregateStatus")) return {};
    const own = levels.filter((level) => !level.ownerOf).map((level) => level.rulesFor(apiVersion, kind));
    const rules = own.find((found) => found?.reflectStatus);
    const status = await explained("reflectStatus", object, () => rules?.reflectStatus?.(object));
    return isObject(status) ? pickFields(status, GENERATIONS) : {};
  }

  /** The aggregated status without user scripts. */
  async function aggregateBeneath(object: AnyObject, items: readonly StatusItem[]): Promise<AnyObject | undefined> {
    const { apiVersion, kind } = object;
    for (const level of levels) {
      const rules = level.name === "customization" ? undefined : level.rulesFor(apiVersion, kind);
      if (rules?.aggregateStatus)
        return explained("aggregateStatus", object, () => rules.aggregateStatus?.(object, items));
    }
    return undefined;
  }

  async function replacedReplicas(object: AnyObject): Promise<number | undefined> {
    const { apiVersion, kind } = object;
    if (ownerOf("replicas", object) === undefined) return undefined;
    const own = levels.filter((level) => !level.ownerOf).map((level) => level.rulesFor(apiVersion, kind));
    const rules = own.find((found) => found?.replicas);
    return rules?.replicas && (await explained("replicas", object, () => rules.replicas?.(object)))?.replicas;
  }

  const levelOf: Interpreter["levelOf"] = (rule, { apiVersion, kind }) =>
    levels.find((level) => level.rulesFor(apiVersion, kind)?.[rule])?.name;
  const ownerOf: Interpreter["ownerOf"] = (rule, { apiVersion, kind }) =>
    levels.find((level) => level.rulesFor(apiVersion, kind)?.[rule])?.ownerOf?.(rule, apiVersion, kind);

  /** Templates are shared and immutable: a rule is run once for each, until rules change. */
  let known = new WeakMap<AnyObject, Promise<readonly RetainedField[]>>();
  for (const level of levels) level.onChange?.(() => (known = new WeakMap()));

  async function runProbes(template: AnyObject): Promise<readonly RetainedField[]> {
    // Only kinds with replicas, or with a number that is divided, have releases.
    if (ownerOf("retain", template) === undefined || !rulesOf(template, ({ replicas, divide }) => replicas ?? divide))
      return [];
    const results = retainProbes(template).map(async ({ desired, observed }) => ask("retain", desired, observed));
    return retainedFieldsIn(await Promise.all(results));
  }

  const limits = createDivisionLimits({
    ask: async (object) => ask("replicas", object),
    ownerOf,
    levelOf,
    replacedReplicas,
  });

  return {
    replicas: (object) => ask("replicas", object),
    components: async (object) => (await ask("components", object)) ?? [],
    reviseReplicas: async (object, replicas) => (await ask("reviseReplicas", object, replicas)) ?? object,
    async divide(object, shares) {
      await limits.rejectOldShares(
        object,
        shares.filter(({ leaving }) => !leaving),
      );
      const rules = rulesOf(object, ({ divide, reviseReplicas }) => divide ?? reviseReplicas);
      const divides = rulesOf(object, ({ divide }) => divide);
      if (rules?.divide) return divided(divides, object, shares);
      // Replicas that no rule counts are not divided.
      const isCounted = rulesOf(object, ({ replicas }) => replicas) !== undefined;
      const staying = shares.filter(({ leaving }) => !leaving);
      if (isCounted && rules) await limits.rejectUncounted(object, staying);
      const copies = new Map(
        await Promise.all(
          staying.map(
            async ({ cluster, replicas }) =>
              [cluster, (isCounted ? await ask("reviseReplicas", object, replicas) : undefined) ?? object] as const,
          ),
        ),
      );
      if (isCounted) {
        await limits.rejectDuplicatedReplicas(object, staying, copies, rules !== undefined);
        await limits.rejectExcessReplicas(object, staying, copies);
        limits.rejectUnlimitedReleases(object, copies);
      }
      // Which level divides: a user rule wins over a lower level that divides, unless it revises like that level does, for
      // these shares. Neither a customization nor a policy has a field for it, and both defaults are wrong for manifests
      // that were written for Karmada (docs/adr/0072).
      const isSame = isCounted && divides?.reviseReplicas && (await revisesAlike(divides, object, staying, copies));
      return isSame ? divided(divides, object, shares) : copies;
    },
    async replacedDivision(object, shares) {
      const divides = rulesOf(object, ({ divide }) => divide);
      const isReplaced = rulesOf(object, ({ divide, reviseReplicas }) => divide ?? reviseReplicas) !== divides;
      return divides && isReplaced && rulesOf(object, ({ replicas }) => replicas)
        ? divided(divides, object, shares)
        : undefined;
    },
    replacedReplicas,
    retain: async (desired, observed) => (await ask("retain", desired, observed)) ?? desired,
    async reflectStatus(object) {
      const rules = rulesOf(object, ({ reflectStatus }) => reflectStatus);
      if (!rules) return wholeStatus(object);
      const status = await ask("reflectStatus", object);
      const known = rulesOf(object, ({ restateStatus }) => restateStatus);
      // The kind's own rule has done so.
      return known?.restateStatus && known !== rules ? known.restateStatus(object, status) : status;
    },
    replacedGenerations,
    aggregateStatus: (object, items) => ask("aggregateStatus", object, items, () => aggregateBeneath(object, items)),
    conditionSums: (rule, object) => rulesOf(object, (found) => found[rule])?.conditions,
    health: async (object) => (((await ask("isHealthy", object)) ?? true) ? "Healthy" : "Unhealthy"),
    dependencies: async (object) => (await ask("dependencies", object)) ?? [],
    levelOf,
    ownerOf,
    retainedFields(template) {
      const cache = known;
      const cached = cache.get(template);
      if (cached) return cached;
      const found = runProbes(template).catch((error: unknown) => {
        cache.delete(template); // A webhook may answer the next time.
        throw error;
      });
      cache.set(template, found);
      return found;
    },
    onChange(listener) {
      for (const level of levels) level.onChange?.(listener);
    },
  };
}

function wholeStatus(object: AnyObject): Json | undefined {
  const { status } = object as { status?: Json };
  if (status === undefined || status === null || isObject(status)) return status ?? undefined;
  throw new InterpretError(`reading the status of ${object.kind} ${object.metadata.name}: it is not an object`);
}

/** An object may contain anything; a rule that throws on it counts as failed, without further effect. */
async function explained<T>(rule: Rule, { kind, metadata }: AnyObject, answer: () => Awaitable<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof InterpretError) throw error;
    throw new InterpretError(`${rule} of ${kind} ${metadata.name}: ${messageOf(error)}`, { cause: error });
  }
}

const divided = async (
  rules: KindRules | undefined,
  object: AnyObject,
  shares: readonly Share[],
): Promise<ReadonlyMap<string, AnyObject>> =>
  explained("divide", object, () => rules?.divide?.(object, shares) ?? new Map());

/** Whether the copies that a user rule made are those of the kind's own rule, so that the user rule replaces nothing. */
async function revisesAlike(
  rules: KindRules,
  object: AnyObject,
  shares: readonly Share[],
  copies: ReadonlyMap<string, AnyObject>,
): Promise<boolean> {
  for (const { cluster, replicas } of shares) {
    const revised = await explained("reviseReplicas", object, () => rules.reviseReplicas?.(object, replicas));
    if (!equalJson(revised, copies.get(cluster))) return false;
  }
  return true;
}
