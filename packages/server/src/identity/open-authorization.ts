/**
 * Who decides what users may do, from the flags of a process: roles, webhooks, or both in an order. The configuration is read again
 * when it changes.
 */
import { dirname, resolve } from "node:path";
import { CLUSTER_NAME_KEY } from "@flotilla/apimachinery";
import { createAuthorizationWebhook, readAuthorizationConfiguration } from "@flotilla/apiserver";
import type { ApiServerOptions, IdentityMetrics } from "@flotilla/apiserver";
import { UsageError } from "@flotilla/base";
import type { Clock, Json, Log } from "@flotilla/base";
import type { AuthorizationOptions } from "@flotilla/cli";
import { followConfiguration } from "../process/follow-configuration.ts";
import { postTo } from "../process/kubeconfig-post.ts";
import type { KubeconfigServer } from "../process/kubeconfig-post.ts";
import { readOption } from "../process/read-option.ts";

type Authorizers = NonNullable<ApiServerOptions["authorization"]>["authorizers"];

export interface OpenedAuthorization {
  /** What holds now. */
  readonly authorizers: Authorizers;
  /** The file is no longer followed. */
  close(): void;
}

export interface AuthorizationDependencies {
  clock: Clock;
  log: Log;
  metrics: Pick<IdentityMetrics, "authorization" | "reloaded">;
}

/** Undefined: the Node authorizer and roles. Throws `UsageError` and `ConfigurationError`. */
export async function openAuthorization(
  options: AuthorizationOptions,
  deps: AuthorizationDependencies,
): Promise<OpenedAuthorization | undefined> {
  const { clock, log, metrics } = deps;
  const file = options.config;
  const byFlags = configurationOf(options);
  if (file !== undefined && byFlags !== undefined)
    throw new UsageError("give either --authorization-config or the other --authorization-… flags, not both");
  const flag = "--authorization-config";
  const read = async (): Promise<string | undefined> => (file === undefined ? byFlags : readOption(flag, file));
  const content = await read();
  if (content === undefined) return undefined;
  let current = await load(content, file, deps);
  const following =
    file === undefined
      ? undefined
      : followConfiguration(
          {
            flag,
            content,
            read: () => readOption(flag, file),
            async use(changed) {
              const next = await load(changed, file, deps);
              current.retire();
              current = next;
            },
            onReload: (status) => metrics.reloaded(flag, status, clock.now()),
          },
          { clock, log },
        );
  return {
    get authorizers() {
      return current.authorizers;
    },
    close: () => following?.cancel(),
  };
}

async function load(
  content: string,
  file: string | undefined,
  { clock, log, metrics }: AuthorizationDependencies,
): Promise<{ authorizers: Authorizers; retire(): void }> {
  const authorizers: Authorizers[number][] = [];
  const servers: KubeconfigServer[] = [];
  for (const each of readAuthorizationConfiguration(content, file ?? "the --authorization-… flags")) {
    if (each.type !== "Webhook") {
      authorizers.push(each.type === "RBAC" ? "roles" : "nodes");
      continue;
    }
    const { settings, kubeconfig } = each;
    const flag = file === undefined ? "--authorization-webhook-config-file" : "--authorization-config";
    // Relative to the file that names it, as kubeconfigs name their own files.
    const server = await postTo(file === undefined ? kubeconfig : resolve(dirname(file), kubeconfig), {
      flag,
      clock,
      log,
      onReload: (status) => metrics.reloaded(flag, status, clock.now()),
    });
    servers.push(server);
    authorizers.push(
      createAuthorizationWebhook(settings, {
        clusterKey: CLUSTER_NAME_KEY,
        post: async (body, signal) => JSON.parse(await server.post(body, signal)) as Json,
        observe: (result, seconds) => metrics.authorization.called(settings.name, result, seconds),
        failedOpen: () => metrics.authorization.failedOpen(settings.name),
        clock,
        log,
      }),
    );
  }
  return { authorizers, retire: () => servers.forEach(({ retire }) => retire()) };
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
