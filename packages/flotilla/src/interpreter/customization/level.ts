/**
 * The level of user-defined Lua. A customization applies only to the exact version it names, because its scripts are
 * written for that version's fields. If several have the same target, the first by name wins, as in Karmada.
 */
import { parseApiVersion, writtenAtMs } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import { OPERATIONS } from "@flotilla/kubernetes";
import type { ChangedKind, KindRules, Level } from "@flotilla/kubernetes";
import type { LuaEngine } from "../scripts/index.ts";
import { createKindRules } from "./kind-rules.ts";
import { CUSTOMIZATION_RULES, scriptOf } from "./customization-rules.ts";
import type { Customization } from "./customization-rules.ts";

export interface CustomizationLevel extends Level {
  readonly name: "customization";
  /** Adds a customization, or replaces the one with the same name. */
  set(customization: Customization): void;
  remove(name: string): void;
  onChange(listener: (changed: ChangedKind) => void): void;
}

type Target = Customization["spec"]["target"];

/** All customizations of one target, merged. */
interface Merged {
  customizations: Customization[];
  rules: KindRules;
}

export function createCustomizationLevel({ engine }: { engine: LuaEngine }): CustomizationLevel {
  const byName = new Map<string, Customization>();
  /** Keyed by apiVersion, then by kind. */
  const byTarget = new Map<string, Map<string, Merged>>();
  const listeners: ((changed: ChangedKind) => void)[] = [];

  /** Rebuilds the rules of a target after one customization was set or removed. */
  function replace(target: Target, name: string, customization?: Customization): void {
    const { apiVersion, kind } = target;
    const byKind = byTarget.get(apiVersion) ?? new Map<string, Merged>();
    const others = (byKind.get(kind)?.customizations ?? []).filter(({ metadata }) => metadata.name !== name);
    const customizations = customization ? [...others, customization].sort(byNameOf) : others;
    if (customizations.length > 0) byKind.set(kind, { customizations, rules: createKindRules(customizations, engine) });
    else byKind.delete(kind);
    if (byKind.size > 0) byTarget.set(apiVersion, byKind);
    else byTarget.delete(apiVersion);
  }

  function notifyListeners(targets: readonly Target[], atMs?: number): void {
    const kinds = new Map(
      targets.map(({ apiVersion, kind }) => [
        `${parseApiVersion(apiVersion).group}/${kind}`,
        { group: parseApiVersion(apiVersion).group, kind, atMs },
      ]),
    );
    for (const changed of kinds.values()) for (const listener of listeners) listener(changed);
  }

  return {
    name: "customization",
    rulesFor: (apiVersion, kind) => byTarget.get(apiVersion)?.get(kind)?.rules,
    ownerOf(rule, apiVersion, kind) {
      const field = CUSTOMIZATION_RULES.find(({ operation }) => OPERATIONS[operation] === rule)?.field;
      const owner =
        field &&
        byTarget
          .get(apiVersion)
          ?.get(kind)
          ?.customizations.find((customization) => scriptOf(customization, field) !== undefined);
      return owner && `ResourceInterpreterCustomization ${owner.metadata.name}`;
    },
    set(customization) {
      const { name } = customization.metadata;
      const { target } = customization.spec;
      const before = byName.get(name);
      byName.set(name, customization);
      if (before && equalJson(before.spec, customization.spec)) return;
      // The engine keeps its state of unchanged scripts. Failures of the former text say nothing about the new one.
      for (const { field, operation } of CUSTOMIZATION_RULES)
        if (before && scriptOf(before, field) !== scriptOf(customization, field)) engine.forget(name, operation);
      if (before) replace(before.spec.target, name);
      replace(target, name, customization);
      if (before) notifyListeners([before.spec.target, target]);
      else notifyListeners([target], writtenAtMs(customization.metadata));
    },
    remove(name) {
      const before = byName.get(name);
      if (!before) return;
      byName.delete(name);
      engine.forget(name);
      replace(before.spec.target, name);
      notifyListeners([before.spec.target]);
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

const byNameOf = (a: Customization, b: Customization): number => (a.metadata.name < b.metadata.name ? -1 : 1);
