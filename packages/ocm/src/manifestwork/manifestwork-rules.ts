/** Emulates Open Cluster Management's webhook for ManifestWork, and adds Flotilla's warnings for valid works. */
import { equalJson } from "@flotilla/base";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { checkConditionalDeployment, conditionalDeploymentWarnings } from "./conditional-deployment.ts";
import { conditionRuleWarnings, feedbackWarnings } from "../manifests/manifest-config-warnings.ts";
import {
  executorOf,
  manifestsProblem,
  manifestWorkName,
  mayExecuteAs,
  NO_ACCOUNT,
} from "../manifests/manifest-rules.ts";
import { expandManifests } from "../manifests/manifest-shorthand.ts";
import { ManifestWork } from "./manifestwork-kind.ts";
import { expandBareManifests } from "./manifestwork-shorthand.ts";
import { needsReview, ocmAdmission, type Rejections } from "../webhook/webhook.ts";

const VALIDATOR = "manifestworkvalidators.admission.work.open-cluster-management.io";

export const manifestWorkRules: AnyAdmission[] = [
  ocmAdmission(ManifestWork, {
    validator: VALIDATOR,
    check,
    canonical: (sent, reported) => expandManifests(expandBareManifests(sent, reported), ["spec"], reported.warn),
    warnings: ({ object }) => [
      ...conditionalDeploymentWarnings(object.metadata.annotations),
      ...feedbackWarnings("spec", object.spec),
      ...conditionRuleWarnings("spec", object.spec),
    ],
  }),
  manifestWorkName(ManifestWork),
  {
    name: "ConditionalDeployment",
    for: ManifestWork,
    on: ["CREATE", "UPDATE"],
    validate: (review: Review<ManifestWork>) =>
      needsReview(review) ? checkConditionalDeployment(review.object.metadata.annotations) : [],
  },
];

function check(review: Review<ManifestWork>, refuse: Rejections): void {
  const { object, oldObject, user } = review;
  const { namespace = "" } = object.metadata;
  if (!object.spec?.workload?.manifests?.length) throw refuse.badRequest("manifests should not be empty");
  const problem = object.spec.workload === review.settled?.spec?.workload ? undefined : manifestsProblem(object.spec);
  if (problem !== undefined) throw refuse.badRequest(problem);
  const account = executorOf(object.spec);
  if (account === undefined || (oldObject && equalJson(oldObject.spec.executor, object.spec.executor))) return;
  if (account === "missing") throw refuse.badRequest(NO_ACCOUNT);
  if (!mayExecuteAs(review, account, namespace))
    throw refuse.badRequest(
      `user ${user.name} cannot manipulate the Manifestwork with executor ${account.namespace}/${account.name} in namespace ${namespace}`,
    );
}
