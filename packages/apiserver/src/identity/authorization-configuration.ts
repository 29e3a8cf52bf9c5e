/**
 * The configuration of authorization (`apiserver.config.k8s.io` AuthorizationConfiguration): which authorizers are asked,
 * in order. It is read when the server starts.
 */
import {
  ConfigurationError,
  dnsSubdomainProblems,
  field,
  fieldErrorText,
  readConfiguration,
  s,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
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
  const reject = (error: FieldError): never => {
    throw new ConfigurationError(`${file}: ${fieldErrorText([error])}`);
  };
  if (authorizers.length === 0) reject(field.required("authorizers", "at least one authorizer is required"));
  const names = new Set<string>();
  let webhooks = 0;
  const once = new Set<string>();
  return authorizers.map(({ type, name, webhook: own }, index): AuthorizerSettings => {
    const at = `authorizers[${index}]`;
    const [problem] = dnsSubdomainProblems(name);
    if (problem !== undefined) reject(field.invalid(`${at}.name`, name, problem));
    if (names.has(name)) reject(field.duplicate(`${at}.name`, name));
    names.add(name);
    if (type === "RBAC" || type === "Node") {
      if (once.has(type)) reject(field.duplicate(`${at}.type`, type));
      if (own) reject(field.invalid(`${at}.webhook`, field.noValue, "webhook can only be set for the type Webhook"));
      once.add(type);
      return { type };
    }
    if (type !== "Webhook") return reject(field.notSupported(`${at}.type`, type, ["Node", "RBAC", "Webhook"]));
    if (!own) return reject(field.required(`${at}.webhook`, "required when type=Webhook"));
    if (++webhooks > MAX_WEBHOOKS)
      reject(field.forbidden(`${at}.type`, `at most ${MAX_WEBHOOKS} authorizers may be webhooks`));
    try {
      return webhookOf(name, own);
    } catch (error) {
      throw new ConfigurationError(`${file}: ${at}.webhook.${messageOf(error)}`);
    }
  });
}

/** Throws with the field and the reason. */
function webhookOf(name: string, own: Webhook): AuthorizerSettings {
  const { type, kubeConfigFile } = own.connectionInfo;
  const conditions = (own.matchConditions ?? []).map(({ expression }) => expression);
  if (type !== "KubeConfigFile") throw rejection(unsupported("connectionInfo.type", type, "KubeConfigFile"));
  if (!kubeConfigFile) throw rejection(field.required("connectionInfo.kubeConfigFile"));
  if (own.subjectAccessReviewVersion !== "v1")
    throw rejection(unsupported("subjectAccessReviewVersion", own.subjectAccessReviewVersion, "v1"));
  const { matchConditionSubjectAccessReviewVersion: version, failurePolicy } = own;
  if ((conditions.length > 0 || version) && version !== "v1")
    throw rejection(unsupported("matchConditionSubjectAccessReviewVersion", version, "v1"));
  if (failurePolicy !== "Deny" && failurePolicy !== "NoOpinion")
    throw rejection(unsupported("failurePolicy", failurePolicy, "Deny", "NoOpinion"));
  if (conditions.length > MAX_CONDITIONS)
    throw rejection(field.tooMany("matchConditions", conditions.length, MAX_CONDITIONS));
  const timeoutMs = millisecondsOf("timeout", own.timeout ?? "");
  if (timeoutMs > MAX_TIMEOUT_MS) throw rejection(field.invalid("timeout", own.timeout, "must be at most 30s"));
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

const rejection = (error: FieldError): FlotillaError => new FlotillaError("Configuration", fieldErrorText([error]));

const unsupported = (path: string, value: string | undefined, ...supported: string[]): FieldError =>
  value ? field.notSupported(path, value, supported) : field.required(path);

function millisecondsOf(path: string, duration: string): number {
  if (duration === "") throw rejection(field.required(path));
  const parsed = parseDuration(duration);
  if (!parsed || parsed.nanos <= 0n)
    throw rejection(field.invalid(path, duration, "must be a duration above 0, such as 30s"));
  return Number(parsed.nanos / 1_000_000n);
}
