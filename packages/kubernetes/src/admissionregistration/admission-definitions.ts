/** Webhooks and policies of admission. The API server calls and evaluates them. */
import type { KindDefinition } from "../definition/kind-definition.ts";
import { mutatingAdmissionPolicy } from "./mutating-admission-policy.ts";
import { mutatingAdmissionPolicyBinding } from "./mutating-admission-policy-binding.ts";
import { mutatingWebhookConfiguration } from "./mutating-webhook-configuration.ts";
import { validatingAdmissionPolicy } from "./validating-admission-policy.ts";
import { validatingAdmissionPolicyBinding } from "./validating-admission-policy-binding.ts";
import { validatingWebhookConfiguration } from "./validating-webhook-configuration.ts";

export const admissionDefinitions: readonly KindDefinition[] = [
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
];
