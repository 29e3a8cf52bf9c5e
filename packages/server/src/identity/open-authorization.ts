/** Who decides what users may do, from the flags of a process: roles, webhooks, or both in an order. */
import { dirname, resolve } from "node:path";
import { CLUSTER_NAME_KEY } from "@flotilla/apimachinery";
import { AuthorizationMetrics, createAuthorizationWebhook, readAuthorizationConfiguration } from "@flotilla/apiserver";
import type { ApiServerOptions } from "@flotilla/apiserver";
import { UsageError } from "@flotilla/base";
import type { Clock, Json, Log } from "@flotilla/base";
import type { AuthorizationOptions } from "@flotilla/cli";
import { postTo } from "../process/kubeconfig-post.ts";
import { readOption } from "../process/read-option.ts";

type Authorization = NonNullable<ApiServerOptions["authorization"]>;

/** Undefined: the Node authorizer and roles. Throws `UsageError` and `ConfigurationError`. */
export async function openAuthorization(
  options: AuthorizationOptions,
  { clock, log }: { clock: Clock; log: Log },
): Promise<Authorization | undefined> {
  const file = options.config;
  const byFlags = configurationOf(options);
  if (file !== undefined && byFlags !== undefined)
    throw new UsageError("give either --authorization-config or the other --authorization-… flags, not both");
  const content = file === undefined ? byFlags : await readOption("--authorization-config", file);
  if (content === undefined) return undefined;
  const metrics = new AuthorizationMetrics();
  const authorizers: Authorization["authorizers"][number][] = [];
  for (const each of readAuthorizationConfiguration(content, file ?? "the --authorization-… flags")) {
    if (each.type !== "Webhook") {
      authorizers.push(each.type === "RBAC" ? "roles" : "nodes");
      continue;
    }
    const { settings, kubeconfig } = each;
    // Relative to the file that names it, as kubeconfigs name their own files.
    const post = await postTo(file === undefined ? kubeconfig : resolve(dirname(file), kubeconfig));
    authorizers.push(
      createAuthorizationWebhook(settings, {
        clusterKey: CLUSTER_NAME_KEY,
        post: async (body, signal) => JSON.parse(await post(body, signal)) as Json,
        observe: (result, seconds) => metrics.called(settings.name, result, seconds),
        failedOpen: () => metrics.failedOpen(settings.name),
        clock,
        log,
      }),
    );
  }
  return { authorizers, writeMetrics: (text) => metrics.write(text) };
}

/** The configuration that kube-apiserver makes of its flags. */
function configurationOf({
  modes,
  webhookConfig,
  authorizedTtlMs = 300_000,
  unauthorizedTtlMs = 30_000,
}: AuthorizationOptions): string | undefined {
  if (modes === undefined) {
    if (webhookConfig !== undefined)
      throw new UsageError("--authorization-webhook-config-file needs --authorization-mode with Webhook in it");
    return undefined;
  }
  if (modes.includes("Webhook") !== (webhookConfig !== undefined))
    throw new UsageError("--authorization-mode Webhook and --authorization-webhook-config-file belong together");
  return JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthorizationConfiguration",
    authorizers: modes.map((type) => ({
      type,
      name: type.toLowerCase(),
      webhook:
        type === "Webhook"
          ? {
              timeout: "30s",
              authorizedTTL: `${Math.max(authorizedTtlMs, 1)}ms`,
              unauthorizedTTL: `${Math.max(unauthorizedTtlMs, 1)}ms`,
              cacheAuthorizedRequests: authorizedTtlMs > 0,
              cacheUnauthorizedRequests: unauthorizedTtlMs > 0,
              subjectAccessReviewVersion: "v1",
              failurePolicy: "NoOpinion",
              connectionInfo: { type: "KubeConfigFile", kubeConfigFile: webhookConfig },
            }
          : undefined,
    })),
  });
}
