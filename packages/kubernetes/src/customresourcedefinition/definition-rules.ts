/** Validates a CustomResourceDefinition, with the order and messages of the real server. */
import { equalJson, type DeepReadonly, type JsonObject } from "@flotilla/base";
import { checkValidationRules } from "@flotilla/cel";
import {
  checkUnchanged,
  dns1035LabelProblems,
  dnsSubdomainProblems,
  field,
  hasValidationRules,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceValidation,
} from "@flotilla/apimachinery/facts/apiextensions-v1.ts";
import { checkConversion } from "./conversion-rules.ts";
import { checkDefaults } from "./default-rules.ts";
import { checkSchema } from "./schema-rules.ts";
import { sharedFormOf, type SharedForm } from "./shared-form.ts";
import { checkStructural, unsupportedPart } from "./structural-rules.ts";
import { checkColumns, checkDeprecation, checkSelectableFields, checkSubresources } from "./version-rules.ts";

type Definition = DeepReadonly<CustomResourceDefinition>;

export function validateDefinition(given: Definition, old: Definition | undefined): FieldError[] {
  const definition = withParts(given);
  const { metadata, spec } = definition;
  const errors: FieldError[] = [];
  // The name is immutable, so updates do not check it again.
  if (!old && metadata.name !== `${spec.names.plural}.${spec.group}`)
    errors.push(field.invalid("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group'));
  errors.push(...checkSpec(definition, old), ...(old ? checkUpdate(definition, old) : []));
  errors.push(
    ...validateDefinitionStatus(definition),
    ...checkStoredVersions(definition),
    ...checkApproval(definition, old),
  );
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    errors.push(
      field.invalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    );
  }
  return errors;
}

type Version = Definition["spec"]["versions"][number];

/** Fills in absent required parts, so the rules below need not check for them. */
function withParts(definition: Definition): Definition {
  const { versions = [], names = {}, group = "", scope = "", ...rest } = definition.spec as Partial<Definition["spec"]>;
  const { plural = "", kind = "", ...otherNames } = names as Partial<Definition["spec"]["names"]>;
  const whole = versions.map(
    ({ name = "", served = false, storage = false, ...others }: Partial<Version>): Version => ({
      name,
      served,
      storage,
      ...others,
    }),
  );
  return { ...definition, spec: { ...rest, group, scope, names: { ...otherNames, plural, kind }, versions: whole } };
}

export function validateDefinitionStatus({ status }: Definition): FieldError[] {
  return status?.acceptedNames ? checkNames("status.acceptedNames", status.acceptedNames) : [];
}

function checkSpec(definition: Definition, old: Definition | undefined): FieldError[] {
  const { spec } = definition;
  const { group, scope, names, conversion } = spec;
  const errors: FieldError[] = [];
  if (!group) errors.push(field.required("spec.group"));
  else if (dnsSubdomainProblems(group).length > 0)
    errors.push(field.invalid("spec.group", group, dnsSubdomainProblems(group).join(",")));
  else if (!group.includes("."))
    errors.push(field.invalid("spec.group", group, "should be a domain with at least one dot"));
  if (!scope) errors.push(field.required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced")
    errors.push(field.notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));

  const form = sharedFormOf(spec);
  const before = old && sharedFormOf(old.spec);
  if (!form.top.schema?.openAPIV3Schema) {
    for (const [index, { schema }] of form.versions.entries())
      if (!schema?.openAPIV3Schema) errors.push(field.required(`spec.versions[${index}].schema.openAPIV3Schema`));
  }
  const preserves = spec.preserveUnknownFields === true;
  if (preserves && hasDefaults(spec.versions))
    errors.push(
      field.invalid("spec.preserveUnknownFields", true, "must be false in order to use defaults in the schema"),
    );
  errors.push(...checkVersions(form, old), ...checkVersionList(spec.versions, form));
  for (const name of ["plural", "singular", "kind", "listKind"] as const)
    if (!names[name]) errors.push(field.required(`spec.names.${name}`));
  errors.push(...checkNames("spec.names", names));
  errors.push(...checkTop(form, before, old));
  if (preserves && conversion && conversion.strategy !== "None")
    errors.push(
      field.invalid(
        "spec.conversion.strategy",
        conversion.strategy,
        "must be None if spec.preserveUnknownFields is true",
      ),
    );
  errors.push(...checkConversion(conversion));
  return errors;
}

const hasDefaults = (versions: Definition["spec"]["versions"]): boolean =>
  JSON.stringify(versions.map(({ schema }) => schema ?? null)).includes('"default":');

/** Validates each version on its own. */
function checkVersions({ top, versions }: SharedForm, old: Definition | undefined): FieldError[] {
  return versions.flatMap((version, index) => {
    const at = `spec.versions[${index}]`;
    const { name, deprecated, deprecationWarning, schema, subresources, additionalPrinterColumns, selectableFields } =
      version;
    const problems = dns1035LabelProblems(name);
    const status = (subresources ?? top.subresources)?.status;
    const before = old?.spec.versions.find((candidate) => candidate.name === name);
    return [
      ...(problems.length > 0 ? [field.invalid(`${at}.name`, name, problems.join(","))] : []),
      ...checkDeprecation(at, deprecated, deprecationWarning),
      ...checkValidation(`${at}.schema`, schema, status !== undefined, isUnchanged(schema, before?.schema)),
      ...checkSubresources(at, subresources),
      ...checkColumns(at, additionalPrinterColumns),
      // Selectable fields that differ between versions need schemas that differ; the message is the real server's.
      ...(selectableFields?.length && !schema?.openAPIV3Schema
        ? [
            field.invalid(
              `${at}.selectableFields`,
              "",
              "may only be set when `version.schema.openAPIV3Schema` is not included",
            ),
          ]
        : checkSelectableFields(
            at,
            selectableFields,
            schema?.openAPIV3Schema as JsonObject | undefined,
            isUnchanged(selectableFields, before?.selectableFields),
          )),
    ];
  });
}

const isUnchanged = (value: unknown, before: unknown): boolean => before !== undefined && equalJson(value, before);

/** Validates the list of versions. */
function checkVersionList(versions: Definition["spec"]["versions"], form: SharedForm): FieldError[] {
  const errors: FieldError[] = [];
  const [first] = versions;
  if (new Set(versions.map(({ name }) => name)).size !== versions.length)
    errors.push(field.invalid("spec.versions", form.versions, "must contain unique version names"));
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(
      field.invalid("spec.versions", form.versions, "must have exactly one version marked as storage version"),
    );
  // A deprecated field that still represents the first version.
  const problems = first?.name ? dns1035LabelProblems(first.name) : [];
  if (first && problems.length > 0) errors.push(field.invalid("spec.version", first.name, problems.join(",")));
  return errors;
}

/** Validates the parts that all versions share. */
function checkTop(
  { top, versions }: SharedForm,
  before: SharedForm | undefined,
  old: Definition | undefined,
): FieldError[] {
  const hasStatus =
    top.subresources?.status !== undefined || versions.some(({ subresources }) => subresources?.status !== undefined);
  const [first] = versions;
  const earlier = before?.top.schema ?? old?.spec.versions.find(({ name }) => name === first?.name)?.schema;
  return [
    ...checkValidation("spec.validation", top.schema, hasStatus, isUnchanged(top.schema, earlier)),
    ...checkSubresources("spec", top.subresources),
    ...checkColumns("spec", top.additionalPrinterColumns),
    ...(top.selectableFields?.length && !top.schema
      ? [field.invalid("spec.selectableFields", "", "may only be set when validations.schema is included")]
      : checkSelectableFields(
          "spec",
          top.selectableFields,
          top.schema?.openAPIV3Schema as JsonObject | undefined,
          isUnchanged(top.selectableFields, before?.top.selectableFields),
        )),
  ];
}

/** Validates a schema. An unchanged schema is not validated again. */
function checkValidation(
  at: string,
  validation: DeepReadonly<CustomResourceValidation> | undefined,
  hasStatus: boolean,
  unchanged: boolean,
): FieldError[] {
  const schema = validation?.openAPIV3Schema as JsonObject | undefined;
  if (!schema || unchanged) return [];
  const path = `${at}.openAPIV3Schema`;
  const errors: FieldError[] = hasStatus ? checkRootForStatus(path, schema) : [];
  if (schema["nullable"] === true)
    errors.push(field.forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  const unsupported = unsupportedPart(schema);
  const structural = unsupported === undefined ? checkStructural(path, schema) : [];
  const form = structural.length > 0 || unsupported !== undefined ? structural : checkDefaults(path, schema);
  const keywords = checkSchema(path, schema);
  errors.push(
    ...form,
    ...keywords,
    ...checkRules(path, schema, unsupported === undefined && form.length + keywords.length === 0),
  );
  if (errors.length === 0 && unsupported !== undefined) errors.push(field.invalid(path, "", unsupported));
  return errors;
}

/** CEL rules. Only their syntax is checked until the schema itself is valid. */
function checkRules(path: string, schema: JsonObject, isSchemaRight: boolean): FieldError[] {
  if (!hasValidationRules(schema)) return [];
  const { schemaErrors, celErrors, totalErrors } = checkValidationRules(schema, { path });
  return isSchemaRight ? [...schemaErrors, ...celErrors, ...totalErrors] : schemaErrors;
}

/** Keywords that a root schema may have, as the message lists them. */
const ALLOWED_AT_ROOT =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength " +
  "Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example " +
  "XPreserveUnknownFields XValidations";
const ALLOWED_KEYWORDS = new Set(ALLOWED_AT_ROOT.split(" ").map(keywordOf));

/** `MaxLength` is `maxLength`, `XValidations` is `x-kubernetes-validations`. */
function keywordOf(name: string): string {
  const extension = /^X(?=[A-Z])/.test(name);
  return extension
    ? `x-kubernetes${name.slice(1).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The status schema is extracted from the root, so validation rules around it would be lost. */
function checkRootForStatus(path: string, schema: JsonObject): FieldError[] {
  if (schema["type"] !== undefined && schema["type"] !== "object")
    return [
      field.invalid(
        `${path}.type`,
        schema["type"],
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ];
  if (Object.keys(schema).every((keyword) => schema[keyword] === undefined || ALLOWED_KEYWORDS.has(keyword))) return [];
  return [
    field.invalid(
      path,
      schema,
      `only [${ALLOWED_AT_ROOT}] fields are allowed at the root of the schema if the status subresource is enabled`,
    ),
  ];
}

function checkNames(at: string, names: DeepReadonly<CustomResourceDefinitionNames>): FieldError[] {
  const label = (path: string, value: string | undefined, isOptional: boolean): FieldError[] => {
    const problems = isOptional && !value ? [] : dns1035LabelProblems(value ?? "");
    return problems.length > 0 ? [field.invalid(path, value ?? "", problems.join(","))] : [];
  };
  const mixed = (path: string, value: string | undefined): FieldError[] => {
    const problems = value ? dns1035LabelProblems(value.toLowerCase()) : [];
    return problems.length > 0
      ? [field.invalid(path, value, `may have mixed case, but should otherwise match: ${problems.join(",")}`)]
      : [];
  };
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names;
  return [
    ...label(`${at}.plural`, plural, true),
    ...label(`${at}.singular`, singular, true),
    ...mixed(`${at}.kind`, kind),
    ...mixed(`${at}.listKind`, listKind),
    ...shortNames.flatMap((name, index) => label(`${at}.shortNames[${index}]`, name, false)),
    ...(kind && kind === listKind
      ? [field.invalid(`${at}.listKind`, listKind, "kind and listKind may not be the same")]
      : []),
    ...categories.flatMap((name, index) => label(`${at}.categories[${index}]`, name, false)),
  ];
}

/** Fields that the objects of an established CRD depend on are immutable. */
function checkUpdate({ spec }: Definition, { spec: old, status }: Definition): FieldError[] {
  const isEstablished =
    status?.conditions?.some((condition) => condition.type === "Established" && condition.status === "True") ?? false;
  return [
    ...(isEstablished
      ? [
          ...checkUnchanged("spec.scope", spec.scope, old.scope),
          ...checkUnchanged("spec.names.kind", spec.names.kind, old.names.kind),
        ]
      : []),
    ...checkUnchanged("spec.group", spec.group, old.group),
    ...checkUnchanged("spec.names.plural", spec.names.plural, old.names.plural),
  ];
}

function checkStoredVersions({ spec, status }: Definition): FieldError[] {
  const path = "status.storedVersions";
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return [field.invalid(path, null, "must have at least one stored version")];
  const errors: FieldError[] = [];
  const names = new Set(spec.versions.map(({ name }) => name));
  for (const { name, storage } of spec.versions)
    if (storage && !stored.includes(name))
      errors.push(field.invalid(path, stored, `must have the storage version ${name}`));
  for (const [index, name] of stored.entries()) {
    if (names.has(name)) continue;
    errors.push(
      field.invalid(
        `${path}[${index}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in ` +
          `spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ` +
          `${name} from status.storedVersions`,
      ),
    );
  }
  return errors;
}

export const APPROVAL = "api-approved.kubernetes.io";

/** Groups that belong to the Kubernetes project. */
export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

export type Approval = "missing" | "bypassed" | "approved" | "invalid";

export function approvalOf({ metadata }: Pick<Definition, "metadata">): Approval {
  const value = metadata.annotations?.[APPROVAL] ?? "";
  if (value === "") return "missing";
  if (value.startsWith("unapproved")) return "bypassed";
  return URL.canParse(value) && new URL(value).host !== "" ? "approved" : "invalid";
}

const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** A group of the Kubernetes project needs an approval annotation. CRDs that lacked it before stay valid. */
function checkApproval(definition: Definition, old: Definition | undefined): FieldError[] {
  if (!isProtectedGroup(definition.spec.group ?? "")) return [];
  const approval = approvalOf(definition);
  if (old && approvalOf(old) === approval) return [];
  const path = `metadata.annotations[${APPROVAL}]`;
  if (approval === "missing")
    return [field.required(path, `protected groups must have approval annotation "${APPROVAL}", ${SEE}`)];
  if (approval !== "invalid") return [];
  return [
    field.invalid(
      path,
      definition.metadata.annotations?.[APPROVAL],
      `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", ${SEE}`,
    ),
  ];
}
