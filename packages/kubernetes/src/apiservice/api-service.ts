/** APIService: which server answers for a version of a group, this one or one behind a Service. */
import {
  builtInAdmission,
  change,
  dns1035LabelProblems,
  dnsSubdomainProblems,
  field,
  fill,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { APIService } from "./api-service-kind.ts";
import { LOCALLY_AVAILABLE } from "./local-api-services.ts";

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1_000;
const MAX_PORT = 65_535;
const STATUSES = ["True", "False", "Unknown"];

/** A client may leave the priorities out. */
const orZero = (priority: number | undefined): number => priority ?? 0;

export function validateApiService({ metadata, spec }: DeepReadonly<APIService>): FieldError[] {
  const errors: FieldError[] = [];
  const { group = "", version = "", service, caBundle = "", insecureSkipTLSVerify = false } = spec;
  const groupPriorityMinimum = orZero(spec.groupPriorityMinimum);
  const versionPriority = orZero(spec.versionPriority);
  const name = `${version}.${group}`;
  if (metadata.name !== name)
    errors.push(
      field.invalid("metadata.name", metadata.name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`),
    );
  if (group === "" && version !== "v1")
    errors.push(field.required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
  if (group !== "")
    for (const problem of dnsSubdomainProblems(group)) errors.push(field.invalid("spec.group", group, problem));
  for (const problem of dns1035LabelProblems(version)) errors.push(field.invalid("spec.version", version, problem));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > MAX_GROUP_PRIORITY)
    errors.push(
      field.invalid("spec.groupPriorityMinimum", groupPriorityMinimum, "must be positive and less than 20000"),
    );
  if (versionPriority <= 0 || versionPriority > MAX_VERSION_PRIORITY)
    errors.push(field.invalid("spec.versionPriority", versionPriority, "must be positive and less than 1000"));
  if (!service) {
    if (caBundle !== "")
      errors.push(
        field.invalid(
          "spec.caBundle",
          `${Buffer.from(caBundle, "base64").length} bytes`,
          "local APIServices may not have a caBundle",
        ),
      );
    if (insecureSkipTLSVerify)
      errors.push(
        field.invalid("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify"),
      );
    return errors;
  }
  if (!service.namespace) errors.push(field.required("spec.service.namespace"));
  if (!service.name) errors.push(field.required("spec.service.name"));
  const { port = 443 } = service;
  if (port < 1 || port > MAX_PORT)
    errors.push(field.invalid("spec.service.port", port, "port is not valid: must be between 1 and 65535, inclusive"));
  if (insecureSkipTLSVerify && caBundle !== "")
    errors.push(field.invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"));
  return errors;
}

function validateStatus({ status }: DeepReadonly<APIService>): FieldError[] {
  return (status?.conditions ?? []).flatMap((condition, index) =>
    STATUSES.includes(condition.status)
      ? []
      : [field.notSupported(`status.conditions[${index}].status`, condition.status, STATUSES)],
  );
}

const rules: AnyAdmission[] = [
  builtInAdmission(APIService, "apiregistration-v1", {
    complete: (apiService) =>
      change(apiService, "spec", (spec) => change(spec, "service", (service) => fill(service, { port: 443 }))),
    // Others are available once their server was checked.
    prepare: (service, { oldObject }) =>
      oldObject || service.spec.service
        ? service
        : {
            ...service,
            status: {
              conditions: [{ ...LOCALLY_AVAILABLE, lastTransitionTime: service.metadata.creationTimestamp }],
            },
          },
    validate: ({ object }) => validateApiService(object),
    validateStatus: ({ object }) => validateStatus(object),
  }),
];

export const apiService = defineKind({
  kind: APIService,
  rules,
  example: exampleOf(APIService, {
    metadata: { name: "v1.example.com" },
    spec: { group: "example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 },
  }),
});
