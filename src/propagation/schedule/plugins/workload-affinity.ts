import { fits, rejects, type FilterPlugin } from "../framework.ts";

const APART = rejects("ResourceBinding with the same affinity group does not target this cluster");
const TAKEN = rejects("cluster already has workload with the same anti-affinity group");

/**
 * Keeps the members of a group together: a new one goes where all of the others are. What already runs somewhere stays.
 */
export const workloadAffinity: FilterPlugin = {
  name: "WorkloadAffinity",
  filter({ neighbours, targets }, { name }) {
    return !neighbours || targets.has(name) || neighbours.areAllOn(name) ? fits : APART;
  },
};

/**
 * Keeps the members of a group apart: a new one goes where none of the others is. What already runs somewhere stays.
 */
export const workloadAntiAffinity: FilterPlugin = {
  name: "WorkloadAntiAffinity",
  filter({ neighbours, targets }, { name }) {
    return !neighbours || targets.has(name) || !neighbours.isTaken(name) ? fits : TAKEN;
  },
};
