/** Validation of UnitedDeployment, as in OpenKruise's webhook; the same for both versions. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import {
  checkNotNegative,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  labelSelectorOf,
  matchesLabels,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { checkNodeSelectorTerm, checkToleration } from "@flotilla/kubernetes";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import {
  checkOwnSelector,
  checkOwnTemplate,
  checkSelects,
  checkTemplateMetadata,
  checkTemplateNeverTerminates,
  withSelector,
} from "../api/template-rules.ts";
import { checkSubsetReplicas } from "./subset-rules.ts";
import type {
  UnitedDeploymentSpec,
  UnitedDeploymentSubset,
  UnitedDeploymentTemplate,
} from "./uniteddeployment-types.ts";
import { completeUnitedDeployment } from "./uniteddeployment-defaults.ts";
import { kruiseAdmission } from "../api/webhook.ts";
import { UnitedDeployment } from "./uniteddeployment-kind.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<UnitedDeploymentSpec>;

function checkUnitedDeployment({ object, oldObject }: Review<UnitedDeployment>): FieldError[] {
  const errors: FieldError[] = [];
  checkMetadata(errors, object.metadata, dnsSubdomainProblems);
  checkSpec(errors, object.spec);
  if (oldObject) checkChange(errors, object.spec, oldObject.spec);
  return errors;
}

function checkSpec(errors: FieldError[], spec: Spec): void {
  const { replicas, selector, template = {}, topology = {}, updateStrategy } = spec;
  const { subsets = [], scheduleStrategy = {} } = topology;
  errors.push(...checkNotNegative("spec.replicas", replicas));
  const canMatch = checkOwnSelector(errors, selector, "statefulset");
  const isAdaptive = scheduleStrategy.type === "Adaptive";
  if (
    isAdaptive &&
    scheduleStrategy.adaptive?.reserveUnschedulablePods &&
    (template.advancedStatefulSetTemplate || template.statefulSetTemplate)
  ) {
    errors.push(
      field.invalid(
        "spec.topology.scheduleStrategy",
        scheduleStrategy,
        "only stateless workloads (Deployment and CloneSet) are supported by reserved rescheduling",
      ),
    );
  }
  if (canMatch) checkSubsetTemplate(errors, template, selector);
  checkSubsetReplicas(errors, replicas, subsets);
  checkSubsets(errors, subsets, isAdaptive);
  checkPartitions(errors, updateStrategy?.manualUpdate?.partitions ?? {}, new Set(subsets.map(({ name }) => name)));
}

/** Each of these errors prints all partitions, so the total text grows with the square of their number. */
const MAX_PARTITION_ERRORS = 16;

function checkPartitions(
  errors: FieldError[],
  partitions: Readonly<Record<string, number>>,
  subsets: ReadonlySet<string | undefined>,
): void {
  const unknown = Object.keys(partitions).filter((name) => !subsets.has(name));
  if (unknown.length === 0) return;
  for (const name of unknown.slice(0, MAX_PARTITION_ERRORS))
    errors.push(field.invalid("spec.updateStrategy.partitions", partitions, `subset ${name} does not exist`));
}

const TEMPLATES = [
  "statefulSetTemplate",
  "advancedStatefulSetTemplate",
  "cloneSetTemplate",
  "deploymentTemplate",
] as const;
const ONE_OF = "one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, or deploymentTemplate";

/** Validates the first template that is set; CloneSets are left to their own webhook. */
function checkSubsetTemplate(
  errors: FieldError[],
  template: Read<UnitedDeploymentTemplate>,
  selector: Read<LabelSelector> | undefined,
): void {
  const at = "spec.template";
  const count = TEMPLATES.filter((name) => template[name] !== undefined).length;
  if (count < 1) errors.push(field.required(at, `should provide ${ONE_OF}`));
  else if (count > 1) errors.push(field.invalid(at, template, `should provide only ${ONE_OF}`));
  const { statefulSetTemplate, advancedStatefulSetTemplate, deploymentTemplate } = template;
  const sets = statefulSetTemplate ?? advancedStatefulSetTemplate;
  if (sets) {
    const name = statefulSetTemplate ? "statefulSetTemplate" : "advancedStatefulSetTemplate";
    // Upstream names the same field for both.
    checkOwnLabels(errors, `${at}.statefulSetTemplate`, sets.metadata?.labels, selector);
    checkUnused(errors, `${at}.${name}.spec`, sets.spec, `in ${name} will not be used`);
    checkTemplateMetadata(errors, `${at}.${name}.spec.template`, sets.spec?.template ?? {}, selector);
  } else if (deploymentTemplate) {
    const pods = deploymentTemplate.spec?.template ?? {};
    const path = `${at}.deploymentTemplate`;
    checkOwnLabels(errors, path, deploymentTemplate.metadata?.labels, selector);
    if (deploymentTemplate.spec?.replicas !== undefined)
      errors.push(
        field.invalid(
          `${path}.spec.replicas`,
          deploymentTemplate.spec.replicas,
          "replicas in deploymentTemplate will not be used",
        ),
      );
    checkSelects(errors, `${path}.spec.template.metadata.labels`, selector, pods.metadata?.labels);
    checkOwnTemplate(errors, `${path}.spec.template`, pods);
    checkTemplateNeverTerminates(errors, `${path}.spec.template`, pods, "ReplicaSet");
  }
}

function checkOwnLabels(
  errors: FieldError[],
  at: string,
  labels: Readonly<Record<string, string>> | undefined,
  selector: Read<LabelSelector> | undefined,
): void {
  if (!matchesLabels(labelSelectorOf(selector), labels))
    errors.push(field.invalid(`${at}.metadata.labels`, labels, "`selector` does not match template `labels`"));
}

interface Sets {
  readonly replicas?: number;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
}

function checkUnused(errors: FieldError[], at: string, { replicas, updateStrategy }: Sets = {}, problem: string): void {
  if (replicas !== undefined) errors.push(field.invalid(`${at}.replicas`, replicas, `replicas ${problem}`));
  const partition = updateStrategy?.rollingUpdate?.partition;
  if (updateStrategy?.type === "RollingUpdate" && partition !== undefined)
    errors.push(field.invalid(`${at}.updateStrategy.rollingUpdate.partition`, partition, `partition ${problem}`));
}

function checkSubsets(
  errors: FieldError[],
  subsets: readonly Read<UnitedDeploymentSubset>[],
  isAdaptive: boolean,
): void {
  const names = new Set<string>();
  for (const [index, { name = "", nodeSelectorTerm, tolerations = [], replicas }] of subsets.entries()) {
    const at = `spec.topology.subsets[${index}]`;
    if (name === "") errors.push(field.required(`${at}.name`));
    if (names.has(name)) errors.push(field.invalid(`${at}.name`, name, `duplicated subset name ${name}`));
    names.add(name);
    const problems = dnsLabelProblems(name);
    if (problems.length > 0)
      errors.push(field.invalid(`${at}.name`, name, `invalid subset name ${problems.join(", ")}`));
    if (nodeSelectorTerm) errors.push(...checkNodeSelectorTerm(`${at}.nodeSelectorTerm`, nodeSelectorTerm, true));
    for (const [place, toleration] of tolerations.entries())
      errors.push(...checkToleration(`${at}.tolerations[${place}]`, toleration));
    if (replicas !== undefined && isAdaptive)
      errors.push(
        field.forbidden(`${at}.replicas`, "specify replicas use minReplicas/maxReplicas to enable adaptive strategy"),
      );
  }
}

function checkChange(errors: FieldError[], now: Spec, before: Spec): void {
  const [template, old] = [now.template ?? {}, before.template ?? {}];
  if (template.statefulSetTemplate && old.statefulSetTemplate)
    checkSets(
      errors,
      "statefulSetTemplate",
      "statefulsetTemplate",
      template.statefulSetTemplate.spec,
      old.statefulSetTemplate.spec,
    );
  else if (template.advancedStatefulSetTemplate && old.advancedStatefulSetTemplate) {
    checkSets(
      errors,
      "advancedStatefulSetTemplate",
      "advancedStatefulsetTemplate",
      template.advancedStatefulSetTemplate.spec,
      old.advancedStatefulSetTemplate.spec,
    );
  } else if (template.deploymentTemplate && old.deploymentTemplate)
    errors.push(
      ...checkNotNegative("spec.template.deploymentTemplate.spec.replicas", template.deploymentTemplate.spec?.replicas),
    );
  const subsets = new Map((before.topology?.subsets ?? []).map((subset) => [subset.name, subset]));
  for (const [index, subset] of (now.topology?.subsets ?? []).entries()) {
    const known = subsets.get(subset.name);
    if (!known) continue;
    for (const path of ["nodeSelectorTerm", "tolerations"] as const) {
      if (!isSame(known[path], subset[path]))
        errors.push(field.forbidden(`spec.topology.subsets[${index}].${path}`, "may not be changed in an update"));
    }
  }
  errors.push(...checkNotNegative("spec.replicas", now.replicas));
}

/** Absent and empty values are equal. */
function isSame(a: unknown, b: unknown): boolean {
  const given = (value: unknown): unknown =>
    typeof value === "object" && value !== null && Object.keys(value).length > 0 ? value : null;
  return equalJson(given(a), given(b));
}

function checkSets(
  errors: FieldError[],
  path: string,
  word: string,
  now: Sets | undefined,
  before: Sets | undefined,
): void {
  const fixed = (spec: Sets = {}): unknown =>
    Object.fromEntries(
      Object.entries(spec).filter(([key]) => !["replicas", "template", "updateStrategy"].includes(key)),
    );
  const at = `spec.template.${path}.spec`;
  if (!equalJson(fixed(now), fixed(before)))
    errors.push(
      field.forbidden(
        at,
        `updates to ${word} spec for fields other than 'template', and 'updateStrategy' are forbidden`,
      ),
    );
  errors.push(...checkNotNegative(`${at}.replicas`, now?.replicas));
}

export const unitedDeploymentRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(UnitedDeployment, {
    name: "uniteddeployment",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    complete: completeUnitedDeployment(gates),
    check: checkUnitedDeployment,
    prepare: withSelector,
  }),
];
