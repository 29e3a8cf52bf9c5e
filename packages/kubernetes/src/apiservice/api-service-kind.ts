/** APIService: which server answers for a version of a group, this one or one behind a Service. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { APIService as ApiServiceFacts } from "@flotilla/apimachinery/facts/apiregistration-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

export type APIService = ApiServiceFacts;

export const APIService: Kind<APIService> = builtInKind<APIService>({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  categories: ["api-extensions"],
  scope: "Cluster",
  facts: "apiregistration-v1",
  columns: [
    nameColumn,
    column<APIService>("Service", ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}` : "Local",
    ),
    column<APIService>("Available", (service) => {
      const { status = "Unknown", reason = "" } = availabilityOf(service) ?? {};
      return status === "True" || reason === "" ? status : `${status} (${reason})`;
    }),
    ageColumn,
  ],
  subresources: { status: true },
  traits: { plainFinalizers: true, metadataChecks: { create: true }, statusKeepsMetadata: true },
});

/** The condition `Available`. */
export function availabilityOf({ status }: DeepReadonly<APIService>): DeepReadonly<ApiServiceCondition> | undefined {
  return status?.conditions?.find(({ type }) => type === "Available");
}

export type ApiServiceCondition = NonNullable<NonNullable<APIService["status"]>["conditions"]>[number];
