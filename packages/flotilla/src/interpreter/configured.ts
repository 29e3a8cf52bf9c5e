/**
 * The interpreter of a running hub: user configuration plus built-in knowledge. Follows customizations and webhook
 * configurations as they change.
 */
import { ResourceInterpreterCustomization, ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import { Service } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Log, MetricsText, Random } from "@flotilla/base";
import type { Informer, Informers } from "@flotilla/controller-runtime";
import { createCustomizationLevel } from "./customization/level.ts";
import { createInterpreter, knownLevels } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { createLuaEngine, createQuarantine } from "./scripts/index.ts";
import type { Quarantine } from "./scripts/index.ts";
import { createWebhookLevel, serviceAddress } from "./webhook/index.ts";
import type { ConnectWebhook } from "@flotilla/client";

export interface ConfiguredInterpreter {
  interpreter: Interpreter;
  /** Resolves when all configuration is loaded. Interpreting earlier may use the wrong level. */
  whenReady(signal: AbortSignal): Promise<void>;
  writeMetrics(text: MetricsText): void;
  close(): Promise<void>;
}

export interface ConfiguredInterpreterDependencies {
  hub: string;
  /** Informers of the hub. */
  informers: Informers;
  clock: Clock;
  random: Random;
  log: Log;
  /** Reports a change in a script's status to the owner of its customization. */
  reportScriptState(
    customization: DeepReadonly<ResourceInterpreterCustomization>,
    reason: string,
    message: string,
  ): void;
  /** Opens connections to interpreter webhooks; over the network if unset. */
  connectWebhook?: ConnectWebhook | undefined;
  /** Where scripts run that exceed their limits; a thread if unset. */
  quarantine?: Quarantine | undefined;
}

export function createConfiguredInterpreter(deps: ConfiguredInterpreterDependencies): ConfiguredInterpreter {
  const { hub, informers, clock, random, log, reportScriptState, connectWebhook, quarantine } = deps;
  const customizations = informers.of(ResourceInterpreterCustomization);
  const configurations = informers.of(ResourceInterpreterWebhookConfiguration);
  /** Webhooks may reference a Service. */
  const services = informers.of(Service);
  const scripts = createLuaEngine({ clock, quarantine: quarantine ?? createQuarantine({ clock }) });
  const customized = createCustomizationLevel({ engine: scripts });
  const webhooks = createWebhookLevel({
    clock,
    random,
    log,
    connect: connectWebhook,
    resolveService: ({ namespace, name, port }) =>
      serviceAddress(services.get({ cluster: hub, namespace, name }), port),
  });
  follow(customizations, customized);
  follow(configurations, webhooks);

  scripts.onTripped(({ customization, operation }, state) => {
    const reason = state === "quarantined" ? "ScriptQuarantined" : "ScriptRestored";
    const message =
      state === "quarantined"
        ? `the script for ${operation} repeatedly exceeded its limits and now runs in a separate thread; each call is slower until it stays within them`
        : `the script for ${operation} stays within its limits again`;
    log.warn(message, { customization, operation });
    const owner = customizations.list().find(({ metadata }) => metadata.name === customization);
    if (owner) reportScriptState(owner, reason, message);
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
