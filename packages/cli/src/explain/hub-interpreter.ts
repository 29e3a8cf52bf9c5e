/** A hub's interpreter without the hub: its customizations and the built-in rules. */
import { gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { createCustomizationLevel, createInterpreter, createLuaEngine, knownLevels } from "@flotilla/flotilla";
import type { Interpreter } from "@flotilla/flotilla";
import type { HubState } from "./read-snapshot.ts";

export interface HubInterpreter {
  interpreter: Interpreter;
  close(): Promise<void>;
}

export function createHubInterpreter(
  { customizations }: Pick<HubState, "customizations">,
  clock: Clock,
): HubInterpreter {
  const engine = createLuaEngine({ clock });
  const level = createCustomizationLevel({ engine });
  for (const customization of customizations) level.set(customization);
  return { interpreter: createInterpreter([level, ...knownLevels]), close: () => engine.close() };
}

/** The webhook configuration that the hub calls for objects like this one. Only the hub can reach it. */
export function webhookFor(
  { webhooks }: Pick<HubState, "webhooks">,
  object: DeepReadonly<KubernetesObject>,
): string | undefined {
  const { group, version, kind } = gvkOf(object);
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    list === undefined || list.includes("*") || list.includes(value);
  const asks = ({
    apiGroups,
    apiVersions,
    kinds,
  }: {
    readonly apiGroups?: readonly string[];
    readonly apiVersions?: readonly string[];
    readonly kinds?: readonly string[];
  }): boolean => has(apiGroups, group) && has(apiVersions, version) && has(kinds, kind);
  return webhooks.find((configuration) => configuration.webhooks.some(({ rules = [] }) => rules.some(asks)))?.metadata
    .name;
}
