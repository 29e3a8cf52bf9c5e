import { fits, rejects, type FilterPlugin } from "../framework.ts";

/** Keeps a resource that is spread over providers, regions or zones off clusters that do not say where they are. */
export const spreadConstraint: FilterPlugin = {
  name: "SpreadConstraint",
  filter({ placement }, { spec }) {
    for (const { spreadByField } of placement.spreadConstraints ?? []) {
      if (spreadByField === "provider" && !spec?.provider) return rejects("cluster(s) did not have provider property");
      if (spreadByField === "region" && !spec?.region) return rejects("cluster(s) did not have region property");
      if (spreadByField === "zone" && !spec?.zones?.length) return rejects("cluster(s) did not have zones property");
    }
    return fits;
  },
};
