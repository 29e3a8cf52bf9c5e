import { fits, rejects, type FilterPlugin } from "../framework.ts";

const NO_PROVIDER = rejects("cluster(s) did not have provider property");
const NO_REGION = rejects("cluster(s) did not have region property");
const NO_ZONES = rejects("cluster(s) did not have zones property");

/** Excludes clusters without the provider, region, zone or label that a resource is spread over. */
export const spreadConstraint: FilterPlugin = {
  name: "SpreadConstraint",
  filter({ placement }, { metadata, spec }) {
    for (const { spreadByField, spreadByLabel } of placement.spreadConstraints ?? []) {
      if (spreadByField === "provider" && !spec?.provider) return NO_PROVIDER;
      if (spreadByField === "region" && !spec?.region) return NO_REGION;
      if (spreadByField === "zone" && !spec?.zones?.length) return NO_ZONES;
      if (spreadByLabel && !Object.hasOwn(metadata.labels ?? {}, spreadByLabel))
        return rejects(`cluster(s) did not have label ${spreadByLabel}`);
    }
    return fits;
  },
};
