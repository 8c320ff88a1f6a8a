import { createContext, useContext } from 'react';

/** Opens the details of a step beside the graph. */
export const OpenStep = createContext<(stepId: string | undefined) => void>(() => {});

/** Returns the function that opens the details of a step. */
export const useOpenStep = () => useContext(OpenStep);
