/** Programs beyond Kubernetes' own that a logical cluster may run, instead of the controllers of this process. */

export const KRUISE_MANAGER = "kruise-manager";

/** By the Lease that the program holds. */
export const FOREIGN_PROGRAMS: ReadonlyMap<string, string> = new Map([
  ["kruise-system/kruise-manager", KRUISE_MANAGER],
]);
