/** Defaults and validation of ResourceQuota. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, compareQuantities, field, parseQuantity } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import {
  checkQuotaResourceName,
  checkResourceAmount,
  isStandardQuotaResource,
  roundAmounts,
} from "../resources/resource-names.ts";
import { ResourceQuota } from "./resourcequota-kind.ts";

type Quota = DeepReadonly<ResourceQuota>;
/** Not validated yet: any field may be missing. */
type Spec = Sent<NonNullable<ResourceQuota["spec"]>>;

const POD_RESOURCES = new Set([
  "pods",
  "cpu",
  "memory",
  "requests.cpu",
  "requests.memory",
  "limits.cpu",
  "limits.memory",
]);
const CLAIM_RESOURCES = new Set(["persistentvolumeclaims", "requests.storage"]);

/** The native resources that each scope applies to. */
const SCOPES: Readonly<Record<string, ReadonlySet<string>>> = {
  Terminating: POD_RESOURCES,
  NotTerminating: POD_RESOURCES,
  BestEffort: new Set(["pods"]),
  NotBestEffort: POD_RESOURCES,
  PriorityClass: POD_RESOURCES,
  CrossNamespacePodAffinity: POD_RESOURCES,
  VolumeAttributesClass: CLAIM_RESOURCES,
};

/** Scopes without values; the others have values. */
const PLAIN_SCOPES = new Set([
  "BestEffort",
  "NotBestEffort",
  "Terminating",
  "NotTerminating",
  "CrossNamespacePodAffinity",
]);
const CONFLICTS = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

function checkAmounts(path: string, amounts: Readonly<Record<string, string | number>> | undefined): FieldError[] {
  return Object.entries(amounts ?? {}).flatMap(([name, amount]) => [
    ...checkQuotaResourceName(`${path}[${name}]`, name),
    ...checkResourceAmount(`${path}[${name}]`, name, amount),
  ]);
}

/** The counted resources that a scope does not apply to. */
function resourcesOutsideScope({ hard = {} }: Spec, scope: string): string[] {
  const known = SCOPES[scope];
  return known ? Object.keys(hard).filter((name) => isStandardQuotaResource(name) && !known.has(name)) : [];
}

function conflicting(names: readonly string[]): boolean[] {
  return CONFLICTS.map((pair) => pair.every((scope) => names.includes(scope))).filter(Boolean);
}

function checkScopes(spec: Spec): FieldError[] {
  const { scopes = [] } = spec;
  const at = "spec.scopes";
  return [
    ...scopes.flatMap((scope) => [
      ...(Object.hasOwn(SCOPES, scope) ? [] : [field.invalid(at, scopes, "unsupported scope")]),
      ...resourcesOutsideScope(spec, scope).map(() =>
        field.invalid(at, scopes, "unsupported scope applied to resource"),
      ),
    ]),
    ...conflicting(scopes).map(() => field.invalid(at, scopes, "conflicting scopes")),
  ];
}

/** The selector as the real server prints it in messages. */
function shown(selector: NonNullable<Spec["scopeSelector"]>): unknown {
  return {
    MatchExpressions: (selector.matchExpressions ?? []).map(({ scopeName, operator, values }) => ({
      ScopeName: scopeName ?? "",
      Operator: operator ?? "",
      Values: values ?? null,
    })),
  };
}

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
  "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or " +
  "ResourceQuotaScopeCrossNamespacePodAffinity";

function checkScopeSelector(spec: Spec): FieldError[] {
  const { scopeSelector } = spec;
  if (!scopeSelector) return [];
  const at = "spec.scopeSelector.matchExpressions";
  const expressions = scopeSelector.matchExpressions ?? [];
  const errors: FieldError[] = [];
  for (const { scopeName = "", operator = "", values = [] } of expressions) {
    if (!Object.hasOwn(SCOPES, scopeName))
      errors.push(field.invalid(`${at}.scopeName`, scopeName, "unsupported scope"));
    errors.push(
      ...resourcesOutsideScope(spec, scopeName).map(() =>
        field.invalid(at, shown(scopeSelector), "unsupported scope applied to resource"),
      ),
    );
    if (PLAIN_SCOPES.has(scopeName) && operator !== "Exists")
      errors.push(field.invalid(`${at}.operator`, operator, ONLY_EXISTS));
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0)
        errors.push(
          field.required(
            `${at}.values`,
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
          ),
        );
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0)
        errors.push(
          field.invalid(
            `${at}.values`,
            values,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
          ),
        );
    } else errors.push(field.invalid(`${at}.operator`, operator, "not a valid selector operator"));
  }
  return [
    ...errors,
    ...conflicting(expressions.map(({ scopeName }) => scopeName ?? "")).map(() =>
      field.invalid(at, spec.scopes ?? null, "conflicting scopes"),
    ),
  ];
}

/** Requests that exceed the limits. */
function warningsOf(hard: Readonly<Record<string, string | number>> = {}): string[] {
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const plain = name === "cpu" || name === "memory" ? name : undefined;
    const request = hard[`requests.${name}`] !== undefined ? `requests.${name}` : plain;
    const requested = request === undefined ? undefined : hard[request];
    const limit = hard[`limits.${name}`];
    if (
      requested === undefined ||
      limit === undefined ||
      compareQuantities(parseQuantity(requested), parseQuantity(limit)) <= 0
    )
      return [];
    return [`ResourceQuota ${request} (${requested}) should be less than limits.${name} (${limit})`];
  });
}

const sortedScopes = ({ spec }: Quota): string[] => [...new Set(spec?.scopes)].sort();

export const rules: AnyAdmission[] = [
  builtInAdmission(ResourceQuota, "core-v1", {
    complete: (quota) => change(quota, "spec", (spec) => change(spec, "hard", roundAmounts)),
    validate({ object, oldObject }) {
      const { spec = {} } = object;
      const moved = oldObject !== undefined && !equalJson(sortedScopes(object), sortedScopes(oldObject));
      return [
        ...checkAmounts("spec.hard", spec.hard),
        ...checkScopes(spec),
        ...checkScopeSelector(spec),
        ...(moved ? [field.invalid("spec.scopes", spec.scopes ?? null, "field is immutable")] : []),
      ];
    },
    validateStatus: ({ object: { status } }) => [
      ...checkAmounts("status.hard", status?.hard),
      ...checkAmounts("status.used", status?.used),
    ],
    warnings: ({ operation, object }) => (operation === "CREATE" ? warningsOf(object.spec?.hard) : []),
  }),
];
