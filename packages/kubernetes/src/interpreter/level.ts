/**
 * Defines where rules come from. For each operation the first level with a rule for the object's kind is used: user
 * configuration comes before built-in rules, in Karmada's order.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { KindInterpreter } from "./kind-interpreter.ts";
import type { Rule } from "./operations.ts";

export const LEVEL_ORDER = ["customization", "webhook", "thirdparty", "native"] as const;
export type LevelName = (typeof LEVEL_ORDER)[number];

export type Awaitable<T> = T | Promise<T>;

/** The result of the levels after this one; undefined when they have no rule. */
export type Beneath = () => Promise<DeepReadonly<KubernetesObject> | undefined>;

type Input<R extends Rule> = Parameters<NonNullable<KindInterpreter[R]>>;

/**
 * The rules of a kind, some of which may call over the network. Rules of users have no `conditions`. A partial aggregated status is completed from the
 * levels beneath.
 */
export type KindRules = {
  readonly [R in Rule]?: (
    ...input: R extends "aggregateStatus" ? [...Input<R>, beneath?: Beneath] : Input<R>
  ) => Awaitable<ReturnType<NonNullable<KindInterpreter[R]>>>;
} & Pick<KindInterpreter, "conditions" | "restateStatus">;

/** The kind whose rules changed. */
export interface ChangedKind {
  readonly group: string;
  readonly kind: string;
  /** When a rule that is seen for the first time was written; unset for a change that happens now. */
  readonly atMs?: number | undefined;
}

export interface Level {
  readonly name: LevelName;
  /**
   * The rules for objects of this kind. Called once per operation, so it must be a map lookup. A missing rule falls
   * through to the next level.
   */
  rulesFor(apiVersion: string, kind: string): KindRules | undefined;
  /** The user's object that has a rule, `ResourceInterpreterCustomization web`; for levels of users' rules. */
  ownerOf?(rule: Rule, apiVersion: string, kind: string): string | undefined;
  /** For levels whose rules change at run time. */
  onChange?(listener: (changed: ChangedKind) => void): void;
}

/** A level of fixed rules. Versions of a kind share their rules unless the rules name versions. */
// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export function createLevel(name: LevelName, kinds: readonly KindInterpreter<any>[]): Level {
  const groups = new Map<string, Map<string, KindInterpreter[]>>();
  for (const rules of kinds as readonly KindInterpreter[]) {
    const group = groups.get(rules.group) ?? new Map<string, KindInterpreter[]>();
    groups.set(rules.group, group.set(rules.kind, [...(group.get(rules.kind) ?? []), rules]));
  }
  return {
    name,
    rulesFor(apiVersion, kind) {
      const { group, version } = parseApiVersion(apiVersion);
      return groups
        .get(group)
        ?.get(kind)
        ?.find(({ versions }) => !versions || versions.includes(version));
    },
  };
}
