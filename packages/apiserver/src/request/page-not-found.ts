import { ApiError, pathNotFound } from "@flotilla/apimachinery";

/** An unknown path: answered in plain text, as kube-apiserver does for unknown groups. */
export class PageNotFound extends ApiError {
  constructor() {
    super(pathNotFound().status);
  }
}
