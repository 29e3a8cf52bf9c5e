import { fits, rejects, type FilterPlugin } from "../framework.ts";

const APART = rejects("ResourceBinding with the same affinity group does not target this cluster");
const TAKEN = rejects("cluster already has workload with the same anti-affinity group");

/** Keeps the bindings of a group together: a new one is placed where all others are. Running ones stay in place. */
export const workloadAffinity: FilterPlugin = {
  name: "WorkloadAffinity",
  filter({ neighbours, targets }, { name }) {
    return !neighbours || targets.has(name) || neighbours.areAllOn(name) ? fits : APART;
  },
};

/** Keeps the bindings of a group apart: a new one is placed where no other is. Running ones stay in place. */
export const workloadAntiAffinity: FilterPlugin = {
  name: "WorkloadAntiAffinity",
  filter({ neighbours, targets }, { name }) {
    return !neighbours || targets.has(name) || !neighbours.isTaken(name) ? fits : TAKEN;
  },
};
