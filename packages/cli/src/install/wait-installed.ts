/** Waits until the programs of an installation answer. */
import { findCondition, HUB } from "@flotilla/apimachinery";
import { sleep } from "@flotilla/base";
import { find } from "@flotilla/client";
import { AGGREGATED_GROUPS, CONTROLLERS_NAME, WEBHOOKS_NAME } from "@flotilla/flotilla";
import type { InstallOptions } from "@flotilla/flotilla";
import { APIService, availabilityOf, Deployment, ValidatingWebhookConfiguration } from "@flotilla/kubernetes";
import { readControllers } from "../health/controllers-state.ts";
import type { InstallTools } from "./apply-install.ts";

const POLL_MS = 500;

/** What does not run yet after this time; undefined if everything does. */
export async function waitInstalled(
  options: InstallOptions,
  tools: InstallTools,
  waitMs: number,
): Promise<string | undefined> {
  for (const untilMs = tools.clock.now() + waitMs; ;) {
    const missing = await missingPart(options, tools);
    if (missing === undefined || tools.clock.now() >= untilMs) return missing;
    tools.progress(`waiting: ${missing}`);
    await sleep(tools.clock, POLL_MS, tools.signal);
  }
}

async function missingPart(
  { namespace, image, isAggregated }: InstallOptions,
  tools: InstallTools,
): Promise<string | undefined> {
  const { client, signal } = tools;
  for (const name of image === undefined ? [] : [WEBHOOKS_NAME, CONTROLLERS_NAME]) {
    const deployment = await find(client, Deployment, { cluster: HUB, namespace, name }, { signal });
    const { availableReplicas = 0, updatedReplicas = 0, observedGeneration = 0 } = deployment?.status ?? {};
    const { replicas = 1 } = deployment?.spec ?? {};
    const isCurrent = observedGeneration >= (deployment?.metadata.generation ?? 0);
    if (!isCurrent || availableReplicas < replicas || updatedReplicas < replicas) {
      const failed = findCondition(deployment?.status?.conditions ?? [], "Progressing");
      const why = failed?.status === "False" ? ` (${failed.message})` : "";
      return `${isCurrent ? availableReplicas : 0} of ${replicas} pods of ${name} are available${why}`;
    }
  }
  const configuration = await find(
    client,
    ValidatingWebhookConfiguration,
    { cluster: HUB, name: WEBHOOKS_NAME },
    { signal },
  );
  if (!configuration?.webhooks?.every(({ clientConfig }) => clientConfig.caBundle !== undefined))
    return "'flotilla webhooks' has not published its certificate";
  for (const { group, version } of isAggregated ? AGGREGATED_GROUPS : []) {
    const service = await find(client, APIService, { cluster: HUB, name: `${version}.${group}` }, { signal });
    const available = service && availabilityOf(service);
    if (available?.status !== "True")
      return `the API server does not reach 'flotilla webhooks' for ${version}.${group}${available?.message ? `: ${available.message}` : ""}`;
  }
  const controllers = await readControllers(tools);
  if (controllers.state !== "running") return "no 'flotilla controllers' run";
  return undefined;
}
