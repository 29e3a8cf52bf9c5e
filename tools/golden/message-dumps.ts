/**
 * Parts of error messages that are not compared: values and differences that the original prints as Go structs.
 * `differences.json` gives the reason of each class under "messages". Everything around them is compared.
 */
import { withoutRejectedValues } from "../../packages/openkruise/src/api/testdata/rejected-values.ts";

/** Each removes what is not compared, from a recorded and from a received message. */
export const MESSAGE_CLASSES = {
  "rejected objects and lists": (text: string): string => withoutRejectedValues(text, true),
  "differences of immutable objects": (text: string): string =>
    text
      .replaceAll(/\n(?:@@ -\S+ \+\S+ @@\n(?:[ +-][^\n]*\n)+)+/g, "")
      .replaceAll(/; changed: `[^`]+`(?:,`[^`]+`)*(?: and \d+ more)?/g, ""),
  "values in OpenKruise's messages": (text: string): string => withoutRejectedValues(text),
};

/** The part of a Kubernetes message that is compared. */
export const comparedText = (text: string): string =>
  MESSAGE_CLASSES["differences of immutable objects"](MESSAGE_CLASSES["rejected objects and lists"](text));

/** The part of a message of OpenKruise's webhooks that is compared. */
export const comparedKruiseText = MESSAGE_CLASSES["values in OpenKruise's messages"];
