/**
 * A ManifestWorkReplicaSet's template is validated like the ManifestWorks created from it. Upstream lets any author set
 * any executor in a template, and its controller then creates works that the author may not create; here the author
 * needs the permission in all namespaces.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { durationProblem } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import type { LocalPlacementReference } from "@flotilla/apimachinery/facts/work-ocm-v1alpha1.ts";
import { conditionRuleWarnings, feedbackWarnings } from "../manifests/manifest-config-warnings.ts";
import {
  executorOf,
  manifestsProblem,
  manifestWorkName,
  mayExecuteAs,
  NO_ACCOUNT,
} from "../manifests/manifest-rules.ts";
import { expandManifests } from "../manifests/manifest-shorthand.ts";
import { ManifestWorkReplicaSet } from "./manifestworkreplicaset-kind.ts";
import { ocmAdmission, type Rejections } from "../webhook/webhook.ts";

const VALIDATOR = "manifestworkreplicasetvalidators.admission.work.open-cluster-management.io";
const TEMPLATE = "spec.manifestWorkTemplate";

export const manifestWorkReplicaSetRules: AnyAdmission[] = [
  ocmAdmission(ManifestWorkReplicaSet, {
    validator: VALIDATOR,
    check,
    canonical: (sent, { warn }) => expandManifests(sent, TEMPLATE.split("."), warn),
    warnings: ({ object: { spec } }) => [
      ...referenceWarnings(spec.placementRefs),
      ...feedbackWarnings(TEMPLATE, spec.manifestWorkTemplate),
      ...conditionRuleWarnings(TEMPLATE, spec.manifestWorkTemplate),
    ],
  }),
  manifestWorkName(ManifestWorkReplicaSet),
];

/** The first reference to a Placement determines its rollout. */
function referenceWarnings(references: readonly DeepReadonly<LocalPlacementReference>[]): string[] {
  const known = new Set<string>();
  const warnings: string[] = [];
  for (const [index, { name }] of references.entries()) {
    if (known.has(name))
      warnings.push(`spec.placementRefs[${index}]: the Placement ${name} is already listed; the duplicate is ignored`);
    known.add(name);
  }
  return warnings;
}

function check(review: Review<ManifestWorkReplicaSet>, refuse: Rejections): void {
  const { object, oldObject, user } = review;
  // The schema does not require a spec.
  const { manifestWorkTemplate: template, placementRefs } =
    (object.spec as Partial<typeof object.spec> | undefined) ?? {};
  checkDurations(placementRefs ?? [], refuse);
  if (!template?.workload?.manifests?.length) throw refuse.badRequest("Workload manifests should not be empty");
  const problem = manifestsProblem(template);
  if (problem !== undefined) throw refuse.badRequest(problem);
  const account = executorOf(template);
  if (
    account === undefined ||
    (oldObject && equalJson(oldObject.spec.manifestWorkTemplate.executor, template.executor))
  )
    return;
  if (account === "missing") throw refuse.badRequest(NO_ACCOUNT);
  if (!mayExecuteAs(review, account, undefined))
    throw refuse.badRequest(
      `user ${user.name} cannot manipulate the ManifestWorkReplicaSet with executor ${account.namespace}/${account.name} in all namespaces`,
    );
}

/** The schema accepts any text. */
function checkDurations(references: readonly DeepReadonly<LocalPlacementReference>[], refuse: Rejections): void {
  for (const { rolloutStrategy: { all, progressive, progressivePerGroup } = {} } of references) {
    for (const config of [all, progressive, progressivePerGroup]) {
      const problem = config?.minSuccessTime === undefined ? undefined : durationProblem(config.minSuccessTime);
      if (problem !== undefined) throw refuse.unreadable(problem);
    }
  }
}
