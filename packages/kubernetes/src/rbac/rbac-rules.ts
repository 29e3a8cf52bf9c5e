/** Defaults and validation shared by roles and bindings: rules, the bound role, and subjects. */
import type { DeepReadonly } from "@flotilla/base";
import {
  ageColumn,
  change,
  changeItems,
  checkText,
  column,
  dnsSubdomainProblems,
  field,
  fill,
  nameColumn,
  pathSegmentProblems,
} from "@flotilla/apimachinery";
import type { Column, FieldError, KindTraits, Sent } from "@flotilla/apimachinery";
import type { PolicyRule, RoleBinding, RoleRef, Subject } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { RBAC_GROUP } from "./identities.ts";

export const rbacTraits: KindTraits = {
  names: "path",
  metadataChecks: { update: true, create: true },
  createOnUpdate: true,
};

/** An empty list of rules is stored as absent, regardless of its writer. */
export function dropEmptyRules<T extends DeepReadonly<{ rules?: PolicyRule[] }>>(role: T): T {
  if (role.rules?.length !== 0) return role;
  const { rules: _, ...rest } = role;
  return rest as T;
}

/** An empty list where none is stored is not a change, so its writer does not become an owner. */
export function completeRules<T extends DeepReadonly<{ rules?: PolicyRule[] }>>(
  role: T,
  { oldObject }: { oldObject?: T },
): T {
  return oldObject && oldObject.rules === undefined ? dropEmptyRules(role) : role;
}

export function checkRules(
  rules: readonly DeepReadonly<PolicyRule>[] | undefined,
  isNamespaced: boolean,
): FieldError[] {
  return (rules ?? []).flatMap((rule, index) => checkRule(`rules[${index}]`, rule, isNamespaced));
}

function checkRule(at: string, sent: Sent<PolicyRule>, isNamespaced: boolean): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = sent;
  const errors = verbs.length === 0 ? [field.required(`${at}.verbs`, "verbs must contain at least one value")] : [];
  if (nonResourceURLs.length > 0) {
    if (isNamespaced)
      errors.push(
        field.invalid(`${at}.nonResourceURLs`, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"),
      );
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.push(
        field.invalid(
          `${at}.nonResourceURLs`,
          nonResourceURLs,
          "rules cannot apply to both regular resources and non-resource URLs",
        ),
      );
    }
    return errors;
  }
  if (apiGroups.length === 0)
    errors.push(field.required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
  if (resources.length === 0)
    errors.push(field.required(`${at}.resources`, "resource rules must supply at least one resource"));
  return errors;
}

type Binding = DeepReadonly<Pick<RoleBinding, "roleRef" | "subjects">>;

/** Roles always have this group; users and groups too, while service accounts are in the core group. */
export function defaultBinding<T extends Binding>(binding: T): T {
  const ref: Partial<RoleRef> = binding.roleRef ?? {};
  const typed = ref.apiGroup ? binding : { ...binding, roleRef: { ...ref, apiGroup: RBAC_GROUP } };
  return change(typed, "subjects", (subjects) =>
    changeItems(subjects, (subject) =>
      subject.kind === "User" || subject.kind === "Group" ? fill(subject, { apiGroup: RBAC_GROUP }) : subject,
    ),
  );
}

export function checkBinding(
  { roleRef, subjects }: Binding,
  old: Binding | undefined,
  isNamespaced: boolean,
): FieldError[] {
  const { apiGroup = "", kind = "", name = "" } = (roleRef ?? {}) as Partial<RoleRef>;
  const kinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...(apiGroup === RBAC_GROUP ? [] : [field.notSupported("roleRef.apiGroup", apiGroup, [RBAC_GROUP])]),
    ...(kinds.includes(kind) ? [] : [field.notSupported("roleRef.kind", kind, kinds)]),
    ...(name === "" ? [field.required("roleRef.name")] : checkText("roleRef.name", name, pathSegmentProblems)),
    ...(subjects ?? []).flatMap((subject, index) => checkSubject(`subjects[${index}]`, subject, isNamespaced)),
    ...(old && !sameRole(roleRef, old.roleRef)
      ? [field.invalid("roleRef", { APIGroup: apiGroup, Kind: kind, Name: name }, "cannot change roleRef")]
      : []),
  ];
}

function sameRole(a: Partial<RoleRef> | undefined, b: Partial<RoleRef> | undefined): boolean {
  return a?.apiGroup === b?.apiGroup && a?.kind === b?.kind && a?.name === b?.name;
}

function checkSubject(
  at: string,
  { kind = "", name = "", apiGroup = "", namespace = "" }: Sent<Subject>,
  isNamespaced: boolean,
): FieldError[] {
  const errors = name === "" ? [field.required(`${at}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.push(...checkText(`${at}.name`, name, dnsSubdomainProblems));
      if (apiGroup !== "") errors.push(field.notSupported(`${at}.apiGroup`, apiGroup, [""]));
      if (!isNamespaced && namespace === "") errors.push(field.required(`${at}.namespace`));
      return errors;
    case "User":
    case "Group":
      if (apiGroup !== RBAC_GROUP) errors.push(field.notSupported(`${at}.apiGroup`, apiGroup, [RBAC_GROUP]));
      return errors;
    default:
      return [...errors, field.notSupported(`${at}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

function subjectsOf({ subjects = [] }: DeepReadonly<RoleBinding>, kind: string): string {
  return subjects
    .filter((subject) => subject.kind === kind)
    .map(({ namespace = "", name }) => (kind === "ServiceAccount" ? `${namespace}/${name}` : name))
    .join(", ");
}

export const bindingColumns: Column[] = [
  nameColumn,
  column<RoleBinding>("Role", ({ roleRef }) => `${roleRef?.kind ?? ""}/${roleRef?.name ?? ""}`),
  ageColumn,
  column<RoleBinding>("Users", (binding) => subjectsOf(binding, "User"), { priority: 1 }),
  column<RoleBinding>("Groups", (binding) => subjectsOf(binding, "Group"), { priority: 1 }),
  column<RoleBinding>("ServiceAccounts", (binding) => subjectsOf(binding, "ServiceAccount"), { priority: 1 }),
];

/** For the examples of bindings. */
export const exampleRoleRef = { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "view" };
