/** PriorityClass: at most one is the default for pods that name none. */
import { PriorityClass } from "@flotilla/kubernetes";
import { refusal } from "@flotilla/apimachinery";
import type { AdmissionStep } from "@flotilla/apimachinery";
import { writesObject } from "./writes-object.ts";

export const priorityClassDefault: AdmissionStep<PriorityClass> = {
  name: "PriorityClassDefault",
  for: PriorityClass,
  on: ["CREATE", "UPDATE"],
  matches: writesObject,
  check(review) {
    const { object, operation, read } = review;
    if (!object.globalDefault) return;
    const present = read
      .list(PriorityClass)
      .find((other) => other.globalDefault && (operation === "CREATE" || other.metadata.name !== object.metadata.name));
    if (present)
      throw refusal(
        review,
        `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`,
      );
  },
};
