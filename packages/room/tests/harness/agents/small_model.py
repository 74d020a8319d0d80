"""A small model for real: serves the weights of a file over Chat Completions on loopback, and prints where."""

import sys
import threading

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = 0
params.n_parallel = 1
params.n_ctx = 8192
params.n_predict = 300  # it rarely finds an end by itself
server = xllamacpp.Server(params)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
threading.Event().wait()
