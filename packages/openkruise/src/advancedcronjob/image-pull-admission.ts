/** Simulated members run no ImageListPullJobs: they reject an AdvancedCronJob that would create some. */
import { field } from "@flotilla/apimachinery";
import type { Admission } from "@flotilla/apimachinery";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";

export const createImagePullAdmission = ({ appliesTo }: KruiseWebhookOptions): Admission<AdvancedCronJob> => ({
  for: AdvancedCronJob,
  on: ["CREATE", "UPDATE"],
  validate: ({ object, cluster, subresource }) =>
    subresource === undefined && appliesTo(cluster) && object.spec.template?.imageListPullJobTemplate
      ? [
          field.forbidden(
            "spec.template.imageListPullJobTemplate",
            "simulated members do not run ImageListPullJobs; use a member with OpenKruise's own controllers",
          ),
        ]
      : [],
});
