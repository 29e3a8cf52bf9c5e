/** Validation of FederatedResourceQuota, as in Karmada's webhook. */
import { addQuantities, compareQuantities, field, formatQuantity, parseQuantity } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { checkQuotaResourceName, checkResourceAmount } from "@flotilla/kubernetes";
import { clusterNameProblem } from "../cluster/cluster-rules.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { FederatedResourceQuota } from "./federatedresourcequota-kind.ts";

/** Members label the ResourceQuotas that they get with the name. */
const MAX_NAME_LENGTH = 63;

type Quota = DeepReadonly<FederatedResourceQuota>;
type Amounts = Readonly<Record<string, string | number>>;

export const federatedResourceQuotaRules: AnyAdmission[] = [
  karmadaAdmission(FederatedResourceQuota, {
    name: "federatedresourcequota.karmada.io",
    check: ({ object }) => checkQuota(object),
  }),
];

function checkQuota({ metadata: { name }, spec: { overall, staticAssignments = [] } }: Quota): FieldError[] {
  return [
    ...(name.length > MAX_NAME_LENGTH
      ? [field.invalid("metadata.name", name, `must be no more than ${MAX_NAME_LENGTH} characters`)]
      : []),
    ...checkAmounts("spec.overall", overall),
    ...staticAssignments.flatMap(({ clusterName, hard }, index) => {
      const problem = clusterNameProblem(clusterName);
      const at = `spec.staticAssignments[${index}]`;
      return [
        ...(problem === undefined ? [] : [field.invalid(`${at}.clusterName`, clusterName, problem)]),
        ...checkAmounts(`${at}.hard`, hard),
      ];
    }),
    ...Object.entries(overall).flatMap(([resource, amount]) =>
      compareQuantities(parseQuantity(amount), assignedOf(resource, staticAssignments)) < 0
        ? [
            field.invalid(
              `spec.overall[${resource}]`,
              formatQuantity(parseQuantity(amount)),
              "overall is less than assignments",
            ),
          ]
        : [],
    ),
    ...staticAssignments.flatMap(({ hard }, index) =>
      Object.keys(hard).flatMap((resource) =>
        Object.hasOwn(overall, resource)
          ? []
          : [
              field.invalid(
                `spec.staticAssignments[${index}].hard[${resource}]`,
                resource,
                "assignment resourceName is not exist in overall",
              ),
            ],
      ),
    ),
  ];
}

const checkAmounts = (at: string, amounts: Amounts): FieldError[] =>
  Object.entries(amounts).flatMap(([name, amount]) => [
    ...checkQuotaResourceName(`${at}[${name}]`, name),
    ...checkResourceAmount(`${at}[${name}]`, name, amount),
  ]);

const assignedOf = (
  resource: string,
  assignments: readonly DeepReadonly<{ hard: Amounts }>[],
): ReturnType<typeof parseQuantity> =>
  assignments.reduce((sum, { hard }) => addQuantities(sum, parseQuantity(hard[resource] ?? "0")), parseQuantity("0"));
