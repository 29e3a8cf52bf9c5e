/**
 * Where rules come from. For each operation the first level that has a rule for the object's kind answers: what a user
 * configured comes before what Flotilla knows by itself, in Karmada's order.
 */
import { parseApiVersion } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { KindInterpreter } from "./kind-interpreter.ts";
import type { Rule } from "./operations.ts";

export const LEVEL_ORDER = ["customization", "webhook", "thirdparty", "native"] as const;
export type LevelName = (typeof LEVEL_ORDER)[number];

export type Awaitable<T> = T | Promise<T>;

/** What the levels after this one would answer; undefined when they know nothing. */
export type Beneath = () => Promise<DeepReadonly<KubernetesObject> | undefined>;

type Input<R extends Rule> = Parameters<NonNullable<KindInterpreter[R]>>;

/**
 * Rules of a kind, some of which may have to be asked for over the network. A sum that is only part of a status is
 * completed from beneath.
 */
export type KindRules = {
  readonly [R in Rule]?: (
    ...input: R extends "aggregateStatus" ? [...Input<R>, beneath?: Beneath] : Input<R>
  ) => Awaitable<ReturnType<NonNullable<KindInterpreter[R]>>>;
};

/** What a change of a level's rules concerns. */
export interface ChangedKind {
  readonly group: string;
  readonly kind: string;
}

export interface Level {
  readonly name: LevelName;
  /**
   * The rules for objects of this kind; asked once per operation, so it is a look-up and no search. A rule that the
   * result lacks is asked of the next level.
   */
  rulesFor(apiVersion: string, kind: string): KindRules | undefined;
  /** For levels whose rules change while Flotilla runs. */
  onChange?(listener: (changed: ChangedKind) => void): void;
}

/** A level of fixed rules. Versions of a kind share their rules unless the rules name the versions they hold for. */
// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export function createLevel(name: LevelName, kinds: readonly KindInterpreter<any>[]): Level {
  const byKind = new Map<string, KindInterpreter[]>();
  for (const rules of kinds as readonly KindInterpreter[]) {
    const key = `${rules.group}/${rules.kind}`;
    const others = byKind.get(key);
    if (others) others.push(rules);
    else byKind.set(key, [rules]);
  }
  return {
    name,
    rulesFor(apiVersion, kind) {
      const { group, version } = parseApiVersion(apiVersion);
      return byKind.get(`${group}/${kind}`)?.find(({ versions }) => !versions || versions.includes(version));
    },
  };
}
