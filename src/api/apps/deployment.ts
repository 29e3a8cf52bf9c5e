/** Deployment: replicas of a pod template, rolled from one version to the next. */
import type { DeepReadonly } from "../../base/index.ts";
import { scaledValue, type FieldError } from "../../machinery/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn, selectorCell, templateColumns, wide } from "../columns.ts";
import { defaultPodTemplate } from "../core/pod-defaults.ts";
import { checkPodTemplate } from "../core/pod-validation.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Deployment as DeploymentFacts } from "../facts/apps-v1.ts";
import { checkIntOrPercent, checkNotNegative, checkUnchanged, checkWorkloadSelector, forbiddenField, wrong } from "../field-errors.ts";
import { change, fill } from "../fill.ts";
import type { Kind } from "../kind.ts";

export type Deployment = DeploymentFacts;

export const Deployment: Kind<Deployment> = builtInKind<Deployment>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  shortNames: ["deploy"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<Deployment>("Ready", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    column<Deployment>("Up-to-date", ({ status }) => status?.updatedReplicas ?? 0),
    column<Deployment>("Available", ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...templateColumns<Deployment>(({ spec }) => spec.template.spec?.containers ?? []),
    column<Deployment>("Selector", ({ spec }) => selectorCell(spec.selector), wide),
  ],
  subresources: { status: true, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".spec.selector" } },
  hasGeneration: true,
});

type Spec = DeepReadonly<Deployment["spec"]>;
type Strategy = NonNullable<Spec["strategy"]>;

const STEP = "25%";

function defaultSpec(spec: Spec): Spec {
  const filled: Spec = fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {} });
  return change(change(filled, "strategy", defaultStrategy), "template", (template) => defaultPodTemplate(template));
}

function defaultStrategy(strategy: Strategy): Strategy {
  const typed: Strategy = fill(strategy, { type: "RollingUpdate" });
  if (typed.type !== "RollingUpdate") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (rolling) => fill(rolling, { maxUnavailable: STEP, maxSurge: STEP }));
}

function checkStrategy({ type, rollingUpdate }: Strategy): FieldError[] {
  const at = "spec.strategy.rollingUpdate";
  if (type === "Recreate") return rollingUpdate ? [forbiddenField(at, "may not be specified when strategy `type` is 'Recreate'")] : [];
  const { maxUnavailable = STEP, maxSurge = STEP } = rollingUpdate ?? {};
  const errors = [...checkIntOrPercent(`${at}.maxUnavailable`, maxUnavailable, 100), ...checkIntOrPercent(`${at}.maxSurge`, maxSurge)];
  if (errors.length === 0 && scaledValue(maxUnavailable, 100, { roundUp: false }) === 0 && scaledValue(maxSurge, 100, { roundUp: true }) === 0) {
    errors.push(wrong(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  return errors;
}

function checkDeadline({ progressDeadlineSeconds: deadline, minReadySeconds = 0 }: Spec): FieldError[] {
  return deadline !== undefined && deadline <= minReadySeconds ? [wrong("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")] : [];
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(Deployment, "apps-v1", {
    complete: (deployment) => change(deployment, "spec", defaultSpec),
    validate: ({ object: { spec }, oldObject }) => [
      ...checkNotNegative("spec.replicas", spec.replicas),
      ...checkWorkloadSelector(spec.selector, spec.template.metadata?.labels),
      ...checkPodTemplate("spec.template", spec.template),
      ...checkStrategy(spec.strategy ?? {}),
      ...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds),
      ...checkNotNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
      ...checkNotNegative("spec.progressDeadlineSeconds", spec.progressDeadlineSeconds),
      ...checkDeadline(spec),
      ...(oldObject ? checkUnchanged("spec.selector", spec.selector, oldObject.spec.selector) : []),
    ],
  }),
];
