/**
 * The interpreter of a running hub: what users configured there, and what Flotilla knows by itself. Customizations and
 * webhook configurations are followed as they come and go.
 */
import { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration, Service } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { Clock, DeepReadonly, Log, MetricsText, Random } from "../base/index.ts";
import type { Informer, Informers } from "../runtime/index.ts";
import { createCustomizationLevel } from "./customization/level.ts";
import { createInterpreter, knownLevels } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { createLuaEngine } from "./lua/index.ts";
import { createWebhookLevel, serviceAddress } from "./webhook/index.ts";

export interface ConfiguredInterpreter {
  interpreter: Interpreter;
  /** Everything that is configured is known. Who interprets before that may ask the wrong level. */
  whenReady(signal: AbortSignal): Promise<void>;
  writeMetrics(text: MetricsText): void;
  close(): Promise<void>;
}

export interface ConfiguredInterpreterDependencies {
  hub: string;
  /** Of the hub. */
  informers: Informers;
  clock: Clock;
  random: Random;
  log: Log;
  /** Tells the owner of a customization what became of one of its scripts. */
  tell(customization: DeepReadonly<ResourceInterpreterCustomization>, reason: string, message: string): void;
}

export function createConfiguredInterpreter({
  hub,
  informers,
  clock,
  random,
  log,
  tell,
}: ConfiguredInterpreterDependencies): ConfiguredInterpreter {
  const customizations = informers.of(ResourceInterpreterCustomization);
  const configurations = informers.of(ResourceInterpreterWebhookConfiguration);
  /** Webhooks may be given as a Service. */
  const services = informers.of(Service);
  const scripts = createLuaEngine({ clock });
  const customized = createCustomizationLevel({ engine: scripts });
  const webhooks = createWebhookLevel({
    clock,
    random,
    log,
    resolveService: ({ namespace, name, port }) =>
      serviceAddress(services.get({ cluster: hub, namespace, name }), port),
  });
  follow(customizations, customized);
  follow(configurations, webhooks);

  scripts.onTripped(({ customization, operation }, state) => {
    const reason = state === "quarantined" ? "ScriptQuarantined" : "ScriptRestored";
    const message =
      state === "quarantined"
        ? `the script for ${operation} overran its limits repeatedly and now runs in a thread of its own; each call costs more until it keeps to them`
        : `the script for ${operation} keeps to its limits again`;
    log.warn(message, { customization, operation });
    const owner = customizations.list().find(({ metadata }) => metadata.name === customization);
    if (owner) tell(owner, reason, message);
  });

  return {
    interpreter: createInterpreter([customized, webhooks, ...knownLevels]),
    async whenReady(signal) {
      await Promise.all([
        customizations.whenSynced(signal),
        configurations.whenSynced(signal),
        services.whenSynced(signal),
      ]);
    },
    writeMetrics(text) {
      scripts.writeMetrics(text);
      webhooks.writeMetrics(text);
    },
    async close() {
      await Promise.all([scripts.close(), webhooks.close()]);
    },
  };
}

function follow<T extends KubernetesObject>(
  informer: Informer<T>,
  level: { set(object: DeepReadonly<T>): void; remove(name: string): void },
): void {
  informer.subscribe(({ object, deleted }) => {
    if (deleted) level.remove(object.metadata.name);
    else level.set(object);
  });
}
