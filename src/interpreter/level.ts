/**
 * Where rules come from. For each operation the first level that has a rule for the object's kind answers: what a user
 * configured comes before what Flotilla knows by itself, in Karmada's order.
 */
import { parseApiVersion } from "../api/index.ts";
import type { KindInterpreter } from "./kind-interpreter.ts";

export const LEVEL_ORDER = ["customization", "webhook", "thirdparty", "native"] as const;
export type LevelName = (typeof LEVEL_ORDER)[number];

export interface Level {
  readonly name: LevelName;
  /**
   * The rules for objects of this kind; asked once per operation, so it is a look-up and no search. A rule that the result
   * lacks is asked of the next level.
   */
  rulesFor(apiVersion: string, kind: string): KindInterpreter | undefined;
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
