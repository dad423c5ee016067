switch (startupMode) {
    case "committed":
        offsetsInitializer = OffsetsInitializer.committedOffsets();
        break;
}
