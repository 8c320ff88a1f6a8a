/** The id of a run or a delivery, in the examples of `--help`. */
export const EXAMPLE_ID = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';
