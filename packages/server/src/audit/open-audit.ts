/** The audit log of a process, from its flags: the policy, and the backends that it writes to. */
import { resolve } from "node:path";
import { CLUSTER_NAME_KEY } from "@flotilla/apimachinery";
import { createAuditErrors, createAuditor, readAuditPolicy } from "@flotilla/apiserver";
import type { AuditBackend, Auditor, IdentityMetrics, ReloadStatus } from "@flotilla/apiserver";
import { UsageError } from "@flotilla/base";
import type { Clock, Log, Random } from "@flotilla/base";
import type { AuditOptions } from "@flotilla/cli";
import { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import { Work } from "@flotilla/karmada";
import { postTo } from "../process/kubeconfig-post.ts";
import { readOption } from "../process/read-option.ts";
import { createAuditLogFile } from "./audit-log-file.ts";
import { createAuditWebhook } from "./audit-webhook.ts";
import { createLostEvents } from "./lost-events.ts";

export interface AuditDependencies {
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Pick<IdentityMetrics, "reloaded">;
}

export interface OpenedAudit {
  auditor: Auditor;
  close(): Promise<void>;
}

/** These contain whole objects, Secrets included. */
const SENSITIVE = [Work, ManifestWork, ManifestWorkReplicaSet].map(({ group, plural }) => ({
  group,
  resource: plural,
}));

/** Undefined without a policy. Throws `UsageError` and `ConfigurationError`. */
export async function openAudit(
  { policyFile, log: file, webhookConfigFile }: AuditOptions,
  { clock, random, log, metrics }: AuditDependencies,
): Promise<OpenedAudit | undefined> {
  if (policyFile === undefined) {
    if (file ?? webhookConfigFile)
      throw new UsageError("the audit log needs --audit-policy-file FILE, which states what is recorded");
    return undefined;
  }
  if (!file && webhookConfigFile === undefined)
    throw new UsageError("--audit-policy-file needs --audit-log-path FILE or --audit-webhook-config-file FILE");
  const policy = readAuditPolicy(await readOption("--audit-policy-file", policyFile), policyFile, SENSITIVE);
  const errors = createAuditErrors();
  const lostBy = (backend: string) => createLostEvents(backend, errors, clock, log);
  const backends: AuditBackend[] = [];
  if (file)
    backends.push(
      createAuditLogFile(
        { ...file, path: file.path === "-" ? "-" : resolve(file.path) },
        { lost: lostBy("log"), clock },
      ),
    );
  if (webhookConfigFile !== undefined) {
    const flag = "--audit-webhook-config-file";
    const onReload = (status: ReloadStatus): void => metrics.reloaded(flag, status, clock.now());
    const { post: send } = await postTo(webhookConfigFile, { flag, clock, log, onReload });
    backends.push(
      createAuditWebhook({
        post: async (body, signal) => void (await send(body, signal)),
        lost: lostBy("webhook"),
        clock,
      }),
    );
  }
  return {
    auditor: createAuditor({ policy, clusterAnnotation: CLUSTER_NAME_KEY, backends, lost: errors, clock, random }),
    close: async () => void (await Promise.all(backends.map((backend) => backend.close()))),
  };
}
