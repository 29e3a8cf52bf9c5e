/** What every tab of a workload receives. */
import type { ObjectView } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";

export interface TabProps extends ViewProps {
  view: ObjectView;
}
