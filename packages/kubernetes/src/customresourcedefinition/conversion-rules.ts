/** Validation rules for a CRD's conversion between versions. */
import type { DeepReadonly } from "@flotilla/base";
import {
  checkText,
  checkWebhookClient,
  checkWebhookService,
  dns1035LabelProblems,
  field,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { CustomResourceConversion, ServiceReference } from "@flotilla/apimachinery/facts/apiextensions-v1.ts";

const AT = "spec.conversion";
const REVIEW_VERSIONS = ["v1", "v1beta1"];

export function checkConversion(conversion: DeepReadonly<CustomResourceConversion> | undefined): FieldError[] {
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  const errors: FieldError[] = [];
  if (!strategy) errors.push(field.required(`${AT}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook")
    errors.push(field.notSupported(`${AT}.strategy`, strategy, ["None", "Webhook"]));
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (clientConfig) errors.push(field.forbidden(`${AT}.webhookClientConfig`, detail));
    if (conversionReviewVersions.length > 0) errors.push(field.forbidden(`${AT}.conversionReviewVersions`, detail));
    return errors;
  }
  if (clientConfig) errors.push(...checkWebhookClient(`${AT}.webhookClientConfig`, clientConfig, checkService));
  else errors.push(field.required(`${AT}.webhookClientConfig`, "required when strategy is set to Webhook"));
  return [...errors, ...checkReviewVersions(`${AT}.conversionReviewVersions`, conversionReviewVersions)];
}

function checkReviewVersions(path: string, versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [field.required(path)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(field.invalid(`${path}[${index}]`, version, "duplicate version"));
    else errors.push(...checkText(`${path}[${index}]`, version, dns1035LabelProblems));
    seen.add(version);
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version)))
    errors.push(field.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  return errors;
}

/** The real server swaps the two names. */
const checkService = (path: string, service: DeepReadonly<ServiceReference>): FieldError[] =>
  checkWebhookService(path, { ...service, name: service.namespace, namespace: service.name });
