import type { FieldDescriptions } from "@flotilla/apimachinery";

export const clusterClaimDescriptions: FieldDescriptions = {
  "": "A property that the cluster declares about itself, which its agent reports to the hub.",
  spec: "The property.",
  "spec.value": "The value of the property; the object's name is the property name.",
};
