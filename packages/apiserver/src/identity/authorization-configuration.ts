/**
 * The configuration of authorization (`apiserver.config.k8s.io` AuthorizationConfiguration): which authorizers are asked,
 * in order. It is read when the server starts.
 */
import { ConfigurationError, dnsSubdomainProblems, readConfiguration, s } from "@flotilla/apimachinery";
import { FlotillaError, messageOf } from "@flotilla/base";
import { parseDuration } from "@flotilla/cel";
import type { AuthorizationWebhookSettings } from "./authorization-webhook.ts";
import { compileReviewConditions } from "./review-conditions.ts";

const text = (description: string) => s.optional(s.string(description));

const webhook = s.object("How the webhook is called.", {
  authorizedTTL: s.string("How long an answer that allows is remembered.", { default: "5m" }),
  unauthorizedTTL: s.string("How long other answers are remembered.", { default: "30s" }),
  cacheAuthorizedRequests: s.boolean("Whether answers that allow are remembered.", { default: true }),
  cacheUnauthorizedRequests: s.boolean("Whether other answers are remembered.", { default: true }),
  timeout: text("How long an answer may take, at most 30s."),
  subjectAccessReviewVersion: text("v1."),
  matchConditionSubjectAccessReviewVersion: text("v1; required with conditions."),
  failurePolicy: text("The decision when the webhook cannot be called: Deny or NoOpinion."),
  connectionInfo: s.object("Where the webhook is.", {
    type: text("KubeConfigFile."),
    kubeConfigFile: text("The kubeconfig of its server."),
  }),
  matchConditions: s.optional(
    s.array(
      "The webhook is called only if all are true.",
      s.object({ expression: s.string("A CEL expression on `request`.") }),
    ),
  ),
});
type Webhook = s.Infer<typeof webhook>;

const CONFIGURATION = {
  kind: "AuthorizationConfiguration",
  apiVersions: ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1"],
  fields: {
    authorizers: s.array(
      "The authorizers, in order.",
      s.object({
        type: s.string("Webhook, Node or RBAC."),
        name: s.string("The name, in logs and metrics."),
        webhook: s.optional(webhook),
      }),
    ),
  },
} as const;

export type AuthorizerSettings =
  | { readonly type: "RBAC" | "Node" }
  | { readonly type: "Webhook"; readonly kubeconfig: string; readonly settings: AuthorizationWebhookSettings };

/** A webhook keeps a request waiting, so there are few. */
const MAX_WEBHOOKS = 16;
const MAX_TIMEOUT_MS = 30_000;
const MAX_CONDITIONS = 64;

/** Throws `ConfigurationError`. */
export function readAuthorizationConfiguration(content: string, file: string): AuthorizerSettings[] {
  const { authorizers } = readConfiguration(content, file, CONFIGURATION);
  const fail = (problem: string): never => {
    throw new ConfigurationError(`${file}: ${problem}`);
  };
  if (authorizers.length === 0) fail("authorizers: Required value: at least one authorizer is required");
  const names = new Set<string>();
  let webhooks = 0;
  const once = new Set<string>();
  return authorizers.map(({ type, name, webhook: own }, index): AuthorizerSettings => {
    const at = `authorizers[${index}]`;
    const [problem] = dnsSubdomainProblems(name);
    if (problem !== undefined) fail(`${at}.name: Invalid value: ${JSON.stringify(name)}: ${problem}`);
    if (names.has(name)) fail(`${at}.name: Duplicate value: ${JSON.stringify(name)}`);
    names.add(name);
    if (type === "RBAC" || type === "Node") {
      if (once.has(type)) fail(`${at}.type: Duplicate value: ${JSON.stringify(type)}`);
      if (own) fail(`${at}.webhook: Invalid value: webhook can only be set for the type Webhook`);
      once.add(type);
      return { type };
    }
    if (type !== "Webhook")
      return fail(
        `${at}.type: Unsupported value: ${JSON.stringify(type)}: supported values: "Node", "RBAC", "Webhook"`,
      );
    if (!own) return fail(`${at}.webhook: Required value: required when type=Webhook`);
    if (++webhooks > MAX_WEBHOOKS) fail(`authorizers: Too many: at most ${MAX_WEBHOOKS} webhooks`);
    try {
      return webhookOf(name, own);
    } catch (error) {
      return fail(`${at}.webhook.${messageOf(error)}`);
    }
  });
}

/** Throws with the field and the reason. */
function webhookOf(name: string, own: Webhook): AuthorizerSettings {
  const { type, kubeConfigFile } = own.connectionInfo;
  const conditions = (own.matchConditions ?? []).map(({ expression }) => expression);
  if (type !== "KubeConfigFile")
    throw new FlotillaError("Configuration", unsupported("connectionInfo.type", type, "KubeConfigFile"));
  if (!kubeConfigFile) throw new FlotillaError("Configuration", "connectionInfo.kubeConfigFile: Required value");
  if (own.subjectAccessReviewVersion !== "v1")
    throw new FlotillaError(
      "Configuration",
      unsupported("subjectAccessReviewVersion", own.subjectAccessReviewVersion, "v1"),
    );
  const { matchConditionSubjectAccessReviewVersion: version, failurePolicy } = own;
  if ((conditions.length > 0 || version) && version !== "v1")
    throw new FlotillaError("Configuration", unsupported("matchConditionSubjectAccessReviewVersion", version, "v1"));
  if (failurePolicy !== "Deny" && failurePolicy !== "NoOpinion")
    throw new FlotillaError("Configuration", unsupported("failurePolicy", failurePolicy, "Deny", "NoOpinion"));
  if (conditions.length > MAX_CONDITIONS)
    throw new FlotillaError(
      "Configuration",
      `matchConditions: Too many: ${conditions.length}: must have at most ${MAX_CONDITIONS} items`,
    );
  const timeoutMs = millisecondsOf("timeout", own.timeout ?? "");
  if (timeoutMs > MAX_TIMEOUT_MS)
    throw new FlotillaError(
      "Configuration",
      `timeout: Invalid value: ${JSON.stringify(own.timeout)}: must be at most 30s`,
    );
  const authorizedTtlMs = millisecondsOf("authorizedTTL", own.authorizedTTL);
  const unauthorizedTtlMs = millisecondsOf("unauthorizedTTL", own.unauthorizedTTL);
  return {
    type: "Webhook",
    kubeconfig: kubeConfigFile,
    settings: {
      name,
      timeoutMs,
      authorizedTtlMs: own.cacheAuthorizedRequests ? authorizedTtlMs : 0,
      unauthorizedTtlMs: own.cacheUnauthorizedRequests ? unauthorizedTtlMs : 0,
      failurePolicy,
      conditions: compileReviewConditions(conditions),
    },
  };
}

const unsupported = (field: string, value: string | undefined, ...supported: string[]): string =>
  value
    ? `${field}: Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((each) => JSON.stringify(each)).join(", ")}`
    : `${field}: Required value`;

function millisecondsOf(field: string, duration: string): number {
  if (duration === "") throw new FlotillaError("Configuration", `${field}: Required value`);
  const parsed = parseDuration(duration);
  if (!parsed || parsed.nanos <= 0n)
    throw new FlotillaError(
      "Configuration",
      `${field}: Invalid value: ${JSON.stringify(duration)}: must be a duration above 0, such as 30s`,
    );
  return Number(parsed.nanos / 1_000_000n);
}
